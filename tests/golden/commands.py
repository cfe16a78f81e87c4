"""The recorded commands: every penalty, objective, parameterization, bound and question, over several sets."""

from __future__ import annotations

_NLTCS = "fit nltcs:train --valid nltcs:valid"
_EXACT = "fit rochdale:data --objective likelihood --order 3"
_SATURATED = "--objective likelihood --order all"
_DNA = "fit dna:train --valid dna:valid --structure learned"

COMMANDS = {
    "l2": f"{_NLTCS} --strength 1,30",
    "l2, unary free": f"{_NLTCS} --strength 10 --free-orders 1 --solver lbfgs",
    "l1 path": f"{_NLTCS} --penalty l1 --strength 512,64,8,1",  # a whole path ends where last bits decide
    "group": "fit flow:data --penalty group --strength 10",
    "hierarchical": "fit flow:data --penalty hierarchical --order 3 --strength 30",
    "none": "fit rochdale:data --penalty none --structure tree",
    "tied": f"{_NLTCS} --penalty tied --groups 2,10 --strength 1,30",
    "hard": f"{_NLTCS} --penalty hard --groups 5 --strength 10",
    "ltr": f"{_NLTCS} --penalty ltr --groups 2,5 --strength 1,10",
    "tied, learned": f"{_DNA} --max-degree 5 --penalty tied --groups 2 --strength 10",
    "folds, l2": "fit rochdale:data --folds 5 --strength 1,10 --seed 3",
    "rise": f"{_NLTCS} --objective rise --parameterization spectral --penalty l1 --strength 512,64,8",
    "log-rise": "fit flow:data --objective log-rise --strength 10",
    "exact l1": f"{_EXACT} --parameterization spectral --penalty l1 --strength 5",
    "exact folds": f"fit czech:data {_SATURATED} --parameterization spectral --penalty l1 --folds 4",
    "exact group": f"{_EXACT} --parameterization canonical --reference last --penalty group --strength 5",
    "exact hierarchical": f"{_EXACT} --penalty hierarchical --strength 5",
    "exact search": f"{_EXACT} --penalty l1 --search hierarchical --strength 20,5",
    "exact full": f"{_EXACT} --parameterization full --penalty l1 --strength 5",
    "exact ising": f"{_EXACT} --parameterization ising --penalty l1 --strength 5",
    "exact generalized": f"{_EXACT} --parameterization generalized-ising --penalty flat-l2 --strength 5",
    "flat l2": f"fit rochdale:data {_SATURATED} --parameterization spectral --penalty flat-l2 --strength 5",
    "pseudo-counts": f"fit rochdale:data {_SATURATED} --penalty pseudo-counts --strength 1",
    "gain": "structure plants:train --max-degree 3",
    "path": "structure jester:train --max-degree 3 --bound path --rule and",
    "top": "structure nltcs:train --max-degree 5 --bound top",
    "graph": "structure plants:train --max-degree 3 --bound graph",
    "ebic": "structure nltcs:train --select ebic --rule and",
    "ebic of l1 solutions": "structure nltcs:train --select ebic --no-refit --rule and",
    "held out": "structure nltcs:train --valid nltcs:valid --select valid --rule and",
    "strength": "structure nltcs:train --select strength --select-strength 200",
    "theory strength": "structure nltcs:train --select theory",
    "score": f"{_NLTCS} -o m.mrf then score m.mrf nltcs:test",
    "score ll": "fit rochdale:data -o m.mrf then score m.mrf rochdale:data --metric ll",
    "theory": "fit rochdale:data --penalty hard --groups 4 --strength 5 -o m.mrf then theory m.mrf",
    "theory pseudo": "fit rochdale:data --penalty hard --groups 4 --strength 5 -o m.mrf then theory m.mrf --objective "
    "pseudo",
    "show": "fit rochdale:data --penalty ltr --groups 4 --strength 5 -o m.mrf then show m.mrf",
    "query": f"{_NLTCS} --structure tree -o m.mrf then query m.mrf --engine tree --given v0=1,v3=0 --ask v8 --explain",
    "query everything": "fit czech:data -o m.mrf then query m.mrf --engine enumeration --map",
    "query joint": "fit flow:data -o m.mrf then query m.mrf --engine tree --ask pkc,p38,jnk --ask pka",
    "log z": f"{_NLTCS} --structure learned --max-degree 4 -o m.mrf then logz m.mrf --engine tree --given v5=1",
    "infer": f"{_NLTCS} --structure learned --max-degree 4 -o m.mrf then infer m.mrf --engine tree --task MAR",
    "spectrum": "spectrum rochdale:data --estimator flat-l1 --folds 5 --max-order 2",
    "smooth spectrum": "spectrum czech:data --estimator pseudo-counts --max-order 0",
}
