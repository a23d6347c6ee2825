"""Random graphs, sub-queries and weights, as the fixtures write them."""

from hypothesis import settings
from hypothesis import strategies as st

from retrieval.builders import link, node
from retrieval.oracle import DEFAULTS

lean = settings(max_examples=50, deadline=None)

TEXTS = ["Rust", "rust", "铁锈", "酒馆", "小酒馆", "图书", "图书馆", "战斗", "森林", "a", "ab"]

text = st.sampled_from(["", *TEXTS])
maybe = st.none() | text
texts = st.lists(text, max_size=3)
share = st.sampled_from([0.0, 1.0]) | st.floats(0, 1)
intensity = st.sampled_from([None, 0, 0.3, 1, 2.5])


def fields(required=None, **optional):
    """An object whose optional fields may be absent."""
    return st.fixed_dictionaries(required or {}, optional=optional)


locations = fields({"name": text}, coordinates=maybe)
participants = fields({"name": text, "role": text})
moods = fields({"atmosphere": text, "tone": text})
events = fields({"action": text}, action_intensity=intensity, initiator=maybe, target=maybe)

contexts = st.none() | fields(
    location=st.none() | locations,
    participants=st.none() | st.lists(participants, max_size=3),
    environment=st.none() | moods,
    event=st.none() | st.lists(events, max_size=3),
)

semantics = fields(
    {
        "content": text,
        "aliases": texts,
        "concept_type": st.sampled_from(["Entity", "Abstract"]),
        "description": text,
    }
)
specifics = fields({"narrative": text}, time_span=st.none(), context=contexts)
abstracts = st.one_of(
    locations.map(lambda value: {"Location": value}),
    participants.map(lambda value: {"Participant": value}),
    moods.map(lambda value: {"Environment": value}),
    events.map(lambda value: {"Event": value}),
)
procedures = st.just({"action": {"content": "说话", "action_type": "Speak"}})

memories = st.one_of(
    semantics.map(lambda value: {"Semantic": value}),
    specifics.map(lambda value: {"Situation": {"SpecificSituation": value}}),
    abstracts.map(lambda value: {"Situation": {"AbstractSituation": value}}),
    procedures.map(lambda value: {"Procedure": value}),
)

link_types = st.one_of(
    share.map(lambda value: {"Sem": {"verb": "有关", "confidence": value}}),
    share.map(lambda value: {"Proc": {"prob": value}}),
    share.map(lambda value: {"Proc": {"TrigToAction": {"prob": value}}}),
    st.sampled_from(["AbstractToSpecific", "SpecificToAbstract"]).map(
        lambda name: {"Situation": {name: {}}}
    ),
    st.just({"Situation": {}}),
)


@st.composite
def graphs(draw, max_nodes=8, max_links=3):
    """Nodes of all kinds with links of all kinds between them."""
    kinds = draw(st.lists(memories, min_size=1, max_size=max_nodes))
    names = [f"n{position}" for position in range(len(kinds))]
    nodes = []
    for name, kind in zip(names, kinds, strict=True):
        links = st.lists(
            st.builds(link, st.just(name), st.sampled_from(names), link_types, share),
            max_size=max_links,
        )
        nodes.append(node(name, kind, draw(texts), draw(links)))
    return nodes


concepts = st.one_of(
    fields({"concept_identifier": text}, description=maybe),
    fields({"description": text}),
)
scenes = fields(
    narrative=maybe,
    location=st.none() | st.lists(locations, max_size=2),
    participants=st.none() | st.lists(fields(name=maybe, role=maybe), max_size=2),
    environment=st.none() | fields(atmosphere=maybe, tone=maybe),
    event=st.none() | st.lists(fields({"action": text}, initiator=maybe, target=maybe), max_size=2),
    time_span=st.none(),
)
variants = st.one_of(
    st.lists(concepts, max_size=3).map(lambda units: {"Semantic": units}),
    st.lists(scenes, max_size=3).map(lambda units: {"Situation": units}),
)
sub_queries = fields({"priority": st.integers(0, 3), "tag": texts, "variant": variants})
requests = st.lists(sub_queries, min_size=1, max_size=3)


def tenths(number):
    return number / 10


weights = st.fixed_dictionaries(
    # Damping stays below 1.
    {name: st.integers(0, 9 if name == "damping" else 10).map(tenths) for name in DEFAULTS}
)
