"""The graded readers of cwl_eval by ir_measures, Compat, infAP by pytrec_eval, runs that ranx fuses."""

from __future__ import annotations

import ir_measures
import pytrec_eval
import ranx
from answers_cases import answer, of_fused

BEST = 4
READERS = {
    "INSQ(T=1.0)": ("insq", [None]),
    "INSQ(T=2.5)": ("insq(target=2.5)", [None]),
    "INST(T=1.0)": ("inst", [None]),
    "INST(T=2.5)": ("inst(target=2.5)", [None]),
    "BPM(T=1.0)": ("bpm", [1, 3, 10]),
    "BPM(T=1.4)": ("bpm(target=1.4)", [3, 10]),
    "NERR8": ("nerr(form=gain)", [1, 3, 10]),
    "NERR9": ("nerr(form=discount)", [1, 3, 10]),
    "NERR10(p=0.9)": ("nerr(form=patience)", [None]),
    "NERR10(p=0.6)": ("nerr(form=patience, p=0.6)", [None]),
    "NERR11(T=1.0)": ("nerr(form=target)", [None]),
    "NERR11(T=2.0)": ("nerr(form=target, target=2)", [None]),
    "SDCG": ("sdcg", [1, 3, 10]),
}
METHODS = {
    "rrf": ({}, "rrf", {}),
    "isr": ({}, "isr", {}),
    "bordafuse": ({}, "borda", {}),
    "sum": ({}, "combsum", {}),
    "mnz": ({}, "combmnz", {}),
    "wsum": ({"weights": (0.7, 0.3)}, "weighted", {"weights": {"a": 0.7, "b": 0.3}}),
}
RANKED = ("rrf", "isr", "bordafuse")
NORMS = ("min-max", "max", "sum", "zmuv", "rank", None)


def answers(name, scene):
    """Give what the four have; infAP on the scene with a pool alone, the others on the one without."""
    if name == "pooled":
        yield from _inferred(name, scene)
    if name == "ragged":
        yield from _readers(name, scene)
        yield from _compatible(name, scene)
        yield from _fused(name, scene)


def _readers(name, scene):
    for call, (ours, ks) in READERS.items():
        told, _, rest = call.partition("(")
        inside = f"{told}({rest.removesuffix(')')}{', ' if rest else ''}max_rel={BEST})"
        found = {
            k: _by_case(inside if k is None else f"{inside}@{k}", scene.relevances(), scene)
            for k in ks
        }
        yield answer(name, call, ours, found, profile="ir_measures")


def _by_case(measure, qrels, scene):
    asked = ir_measures.parse_measure(measure)
    found = ir_measures.iter_calc([asked], qrels, scene.lists())
    return {scene.case(one.query_id): one.value for one in found}


def _compatible(name, scene):
    for p in (0.8, 0.95):
        for normalize in (True, False):
            found = _by_case(f"Compat(p={p}, normalize={normalize})", scene.relevances(), scene)
            ours = f"compatibility(p={p}{'' if normalize else ', normalize=false'})"
            call = f"Compat(p={p}, normalize={normalize})"
            yield answer(name, call, ours, {None: found}, profile="ir_measures")


def _inferred(name, scene):
    """Give infAP of users with both, as pytrec_eval knows no others."""
    asked = pytrec_eval.RelevanceEvaluator(scene.relevances(), {"infAP"})
    found = {scene.case(user): own["infAP"] for user, own in asked.evaluate(scene.lists()).items()}
    both = {"universe": "both"}
    yield answer(name, "infAP", "infap", {None: found}, bound=both, profile="pytrec_eval")


def _fused(name, scene):
    """Give fused runs of users who have both lists, with scores of both signs."""
    both = scene.lists().keys() & scene.references().keys()
    runs = [
        ranx.Run(
            {
                user: {item: score - 4 for item, score in items.items()}
                for user, items in own.items()
                if user in both
            }
        )
        for own in (scene.lists(), scene.references())
    ]
    for method, (params, ours, more) in METHODS.items():
        for norm in [None] if method in RANKED else NORMS:
            fused = ranx.fuse(runs, norm=norm, method=method, params=params)
            found = {scene.case(user): of_fused(items) for user, items in fused.to_dict().items()}
            call = f"fuse(method={method!r}, norm={norm!r})"
            told = {
                "method": ours,
                **({} if method in RANKED else {"normalize": norm}),
                **more,
            }
            yield answer(name, call, None, {None: found}, sides=["reference"], fused=told)
