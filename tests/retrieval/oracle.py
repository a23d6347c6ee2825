"""The retrieval algorithms once more, in plain loops over the JSON, to judge the real ones by.

Nothing here is fast, and nothing here comes from the package: it follows the written algorithms.
Nodes are the graph file's objects, sub-queries the query file's.
"""

import math

import numpy as np
from rapidfuzz.distance import JaroWinkler, Levenshtein

DEFAULTS = {
    "tag": 0.3,
    "variant": 0.7,
    "string_blend_alpha": 0.6,
    "sem_concept": 0.5,
    "sem_description": 0.5,
    "sit_location_name": 0.6,
    "sit_location_coord": 0.4,
    "sit_participant_name": 0.6,
    "sit_participant_role": 0.4,
    "sit_env_atmosphere": 0.5,
    "sit_env_tone": 0.5,
    "sit_event_initiator": 0.3,
    "sit_event_target": 0.3,
    "sit_event_action": 0.4,
    "sit_event_initiator_only_action": 0.6,
    "sit_event_target_only_action": 0.6,
    "damping": 0.65,
    "association": 0.5,
}


def ranked(scores, order):
    """Ids by falling score, equal ones in file order."""
    return sorted(scores, key=lambda name: (-scores[name], order[name]))


def only(union):
    """The one key and value of an externally tagged union."""
    ((name, value),) = union.items()
    return name, value


# --- similarity ---------------------------------------------------------------------------------


def cosine(left, right):
    lengths = np.linalg.norm(left) * np.linalg.norm(right)
    return float(left @ right) / float(lengths) if lengths > 0 else 0.0


def string_similarity(left, right):
    return max(
        JaroWinkler.similarity(left, right),
        1 - Levenshtein.distance(left, right) / max(len(left), len(right)),
    )


def blend(parts):
    """Weight times score over the given parts; a single given one alone."""
    given = [(weight, score) for weight, score in parts if score is not None]
    if not given:
        return None
    if len(given) == 1:
        return given[0][1]
    return sum(weight * score for weight, score in given)


def blend_event(action, initiator, target, weights):
    """The event weights over the given parts; what a part lacks, the others do not take over."""
    if initiator is not None and target is not None:
        shares = [weights["sit_event_" + part] for part in ("action", "initiator", "target")]
    elif initiator is not None:
        share = weights["sit_event_initiator_only_action"]
        shares = [share, 1 - share, 0.0]
    elif target is not None:
        share = weights["sit_event_target_only_action"]
        shares = [share, 0.0, 1 - share]
    else:
        return action
    parts = zip(shares, (action, initiator, target), strict=True)
    return sum(share * score for share, score in parts if score is not None)


class Similarity:
    """Scores of one node against one sub-query, with the vectors of an embed function."""

    def __init__(self, embed, weights=None):
        self.embed = embed
        self.weights = {**DEFAULTS, **(weights or {})}

    def vector(self, side, texts, shares=None):
        """The mean vector of some texts; zero if all are absent."""
        shares = shares or [1.0] * len(texts)
        total = np.zeros(self.embed("passage", ["x"]).shape[1])
        for text, share in zip(texts, shares, strict=True):
            if text:
                total += share * self.embed(side, [text])[0].astype(float)
        return total

    def asked(self, texts, node_vector):
        """The cosine of a sub-field with the node's vector; None if the unit does not give it."""
        if not any(texts):
            return None
        return cosine(self.vector("query", texts), node_vector)

    def score(self, node, query):
        """The fused score."""
        embedding = self.embedding_score(node, query)
        string = self.string_score(node, query)
        if string <= 0:
            return embedding
        alpha = self.weights["string_blend_alpha"]
        return max(embedding, alpha * embedding + (1 - alpha) * string)

    def embedding_score(self, node, query):
        variant = self.variant_score(node, query)
        tag = self.tag_score(node, query)
        if tag is None:
            return variant
        return self.weights["tag"] * tag + self.weights["variant"] * variant

    def tag_score(self, node, query):
        if not any(node["tags"]) or not any(query["tag"]):
            return None
        return cosine(self.vector("passage", query["tag"]), self.vector("passage", node["tags"]))

    def variant_score(self, node, query):
        asked, units = only(query["variant"])
        kind, value = only(node["mem_type"])
        if asked != kind or not units:
            return 0.0
        if kind == "Semantic":
            scores = [self.semantic(value, unit) for unit in units]
        else:
            situation, value = only(value)
            judge = self.specific if situation == "SpecificSituation" else self.abstract
            scores = [judge(value, unit) for unit in units]
        return sum(scores) / len(units)

    def semantic(self, value, unit):
        concept = description = None
        if text := unit.get("concept_identifier"):
            aliases = [alias for alias in value["aliases"] if alias]
            concept = self.asked([text], self.vector("passage", [value["content"]]))
            if aliases:
                concept = max(concept, self.asked([text], self.vector("passage", aliases)))
        if text := unit.get("description"):
            description = self.asked([text], self.vector("passage", [value["description"]]))
        parts = [
            (self.weights["sem_concept"], concept),
            (self.weights["sem_description"], description),
        ]
        return blend(parts) or 0.0

    def specific(self, value, unit):
        context = value.get("context") or {}
        found = [0.0]
        if unit.get("narrative") and value["narrative"]:
            vector = self.vector("passage", [value["narrative"]])
            found.append(self.asked([unit["narrative"]], vector))
        for field, channel in (
            ("location", self.location),
            ("participants", self.participants),
            ("environment", self.environment),
            ("event", self.event),
        ):
            theirs = context.get(field)
            if theirs:
                theirs = theirs if isinstance(theirs, list) else [theirs]
                found.append(channel(theirs, unit))
        return max(score for score in found if score is not None)

    def abstract(self, value, unit):
        kind, part = only(value)
        channel, names = {
            "Location": (self.location, ["name", "coordinates"]),
            "Participant": (self.participants, ["name", "role"]),
            "Environment": (self.environment, ["atmosphere", "tone"]),
            "Event": (self.event, ["action", "initiator", "target"]),
        }[kind]
        found = [0.0, channel([part], unit)]
        if unit.get("narrative"):
            own = self.vector("passage", [part.get(name) for name in names])
            found.append(self.asked([unit["narrative"]], own))
        return max(score for score in found if score is not None)

    def pair(self, theirs, ours, names, shares):
        scores = []
        for name, share in zip(names, shares, strict=True):
            vector = self.vector("passage", [their.get(name) for their in theirs])
            scores.append((share, self.asked([our.get(name) for our in ours], vector)))
        return blend(scores)

    def location(self, theirs, unit):
        shares = (self.weights["sit_location_name"], self.weights["sit_location_coord"])
        return self.pair(theirs, unit.get("location") or [], ("name", "coordinates"), shares)

    def participants(self, theirs, unit):
        shares = (self.weights["sit_participant_name"], self.weights["sit_participant_role"])
        return self.pair(theirs, unit.get("participants") or [], ("name", "role"), shares)

    def environment(self, theirs, unit):
        ours = unit.get("environment")
        shares = (self.weights["sit_env_atmosphere"], self.weights["sit_env_tone"])
        return self.pair(theirs, [ours] if ours else [], ("atmosphere", "tone"), shares)

    def event(self, theirs, unit):
        ours = unit.get("event") or []
        intensities = [their.get("action_intensity") for their in theirs]
        intensities = [1.0 if value is None else value for value in intensities]
        if not any(intensities):
            intensities = [1.0] * len(theirs)
        scores = {}
        for name in ("action", "initiator", "target"):
            vector = self.vector("passage", [their.get(name) for their in theirs], intensities)
            scores[name] = self.asked([our.get(name) for our in ours], vector)
        return blend_event(**scores, weights=self.weights)

    def string_score(self, node, query):
        asked, units = only(query["variant"])
        kind, value = only(node["mem_type"])
        best = 0.0
        if asked == kind == "Semantic":
            for unit in units:
                for name in [value["content"], *value["aliases"]]:
                    best = max(best, self.pair_of_strings(unit.get("concept_identifier"), name))
        elif asked == kind and "AbstractSituation" in value:
            part_kind, part = only(value["AbstractSituation"])
            for unit in units:
                best = max(best, self.abstract_string(part_kind, part, unit))
        return best

    @staticmethod
    def pair_of_strings(asked, name):
        return string_similarity(asked, name) if asked and name else 0.0

    def abstract_string(self, kind, part, unit):
        pairs = []
        if kind == "Location":
            pairs = [(our.get("name"), part["name"]) for our in unit.get("location") or []]
        elif kind == "Participant":
            pairs = [(our.get("name"), part["name"]) for our in unit.get("participants") or []]
        elif kind == "Environment":
            ours = unit.get("environment") or {}
            pairs = [(ours.get("atmosphere"), part["atmosphere"])]
        if kind != "Event":
            return max((self.pair_of_strings(*pair) for pair in pairs), default=0.0)
        best = 0.0
        for our in unit.get("event") or []:
            scores = {
                name: self.pair_of_strings(our[name], part.get(name)) if our.get(name) else None
                for name in ("action", "initiator", "target")
            }
            best = max(best, blend_event(**scores, weights=self.weights) or 0.0)
        return best


# --- association --------------------------------------------------------------------------------


def link_weight(link, procedures, preference=(0.3, 0.7)):
    """A link's weight in the association, by its type and target."""
    if link["to"] in procedures:
        return 0.0
    kind, detail = only(link["link_type"])
    confidence, kind_share = {
        "Sem": lambda: (detail["confidence"], preference[0]),
        "Situation": lambda: (0.8, preference[1]),
        "Proc": lambda: (0.0, 0.0),
    }[kind]()
    return (link["intensity"] + confidence * 0.8 + kind_share) / (1.8 + kind_share)


def matrix(nodes, preference=(0.3, 0.7)):
    """The weights of all links, [from, to]."""
    order = {node["id"]: position for position, node in enumerate(nodes)}
    procedures = {node["id"] for node in nodes if "Procedure" in node["mem_type"]}
    weights = np.zeros((len(nodes), len(nodes)))
    for node in nodes:
        for link in node.get("mem_links", []):
            place = order[node["id"]], order[link["to"]]
            weights[place] += link_weight(link, procedures, preference)
    return weights


def pagerank(weights, sources, damping=0.65):
    """Solve x = d P'x + (1-d) s exactly; sources are scores, normalised here."""
    size = len(weights)
    scores = np.array(sources, float)
    if not (scores > 0).any():
        return np.zeros(size)
    start = np.where(scores > 0, scores, 0.0)
    start /= start.sum()
    home = (scores > 0) / (scores > 0).sum()
    chances = np.zeros((size, size))
    for row, out in enumerate(weights):
        chances[row] = out / out.sum() if out.sum() > 0 else home
    return np.linalg.solve(np.eye(size) - damping * chances.T, (1 - damping) * start)


# --- rankings -----------------------------------------------------------------------------------


def rounded(value):
    """Six decimals, and no negative zero."""
    return float(np.round(value, 6)) + 0.0


def similarity_result(scores, order, threshold, max_results):
    """Id to score of the nodes that a sub-query finds by itself."""
    kept = {
        name: score for name, score in scores.items() if math.isfinite(score) and score >= threshold
    }
    return {name: kept[name] for name in ranked(kept, order)[:max_results]}


def actions(nodes, scores, order, count=3):
    """Id to score of the actions that scored memories lead to."""
    by_id = {node["id"]: node for node in nodes}
    sources = {}
    for name, score in scores.items():
        kind, value = only(by_id[name]["mem_type"])
        if kind == "Situation" and score > 0:
            sources[name] = score * (2 if "AbstractSituation" in value else 1)
    total = sum(math.exp(score) for score in sources.values())
    found = {}
    for name, score in sources.items():
        for link in by_id[name].get("mem_links", []):
            kind, detail = only(link["link_type"])
            if kind == "Proc" and "Procedure" in by_id[link["to"]]["mem_type"]:
                prob = detail.get("TrigToAction", detail)["prob"]
                share = prob * math.exp(score) / total
                found[link["to"]] = found.get(link["to"], 0.0) + share
    found = {name: rounded(score) for name, score in found.items() if rounded(score) > 0}
    return {name: found[name] for name in ranked(found, order)[:count]}


class Pipeline:
    """What sub-queries find in each mode, from their fused similarities on."""

    def __init__(self, nodes, threshold, max_results, top_k=8):
        self.nodes = nodes
        self.order = {node["id"]: position for position, node in enumerate(nodes)}
        self.weights = matrix(nodes)
        self.threshold = threshold
        self.max_results = max_results
        self.top_k = top_k

    def ask(self, scores, mode):
        """One sub-query: its own ranking, the list that is merged, its actions."""
        found = similarity_result(scores, self.order, self.threshold, self.max_results)
        if mode == "embedding":
            return found, found, {}
        values = pagerank(self.weights, [max(found.get(name, 0.0), 0.0) for name in self.order])
        reached = {
            name: rounded(value)
            for name, value in zip(self.order, values, strict=True)
            if rounded(value) > 0
        }
        best = ranked(reached, self.order)
        if mode == "association":
            near = {name: reached[name] for name in best[: self.max_results]}
            both = {
                name: rounded(0.5 * found.get(name, 0.0) + 0.5 * near.get(name, 0.0))
                for name in found | near
            }
            return found, both, {}
        near = {name: reached[name] for name in best[: self.top_k]}
        both = {
            name: max(found.get(name, -math.inf), near.get(name, -math.inf))
            for name in found | near
        }
        own = {name: both[name] for name in ranked(both, self.order)[: self.max_results]}
        return own, own, actions(self.nodes, both, self.order)

    def merge(self, lists, priorities):
        """One list of (id, raw score, key), from the lists of several sub-queries."""
        top = max(priorities)
        keys, raw = {}, {}
        for scores, priority in zip(lists, priorities, strict=True):
            lift = 0.05 * priority / top if top else 0.0
            for name, score in scores.items():
                key = rounded(score + lift)
                if name not in keys or key > keys[name]:
                    keys[name], raw[name] = key, score
        best = ranked(keys, self.order)[: self.max_results]
        return [(name, raw[name], keys[name]) for name in best]
