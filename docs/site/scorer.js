/* Scores of search results, as Sphinx has them, but for pages that nobody looks for first. */
var Scorer = {
  score: ([page, , , , score]) =>
    /^(changelog|contributing|architecture|experiments|benchmarks|structure-benchmarks|commands|gallery|generated\/(commands|gallery)\/|decisions\/|replication\/)/.test(page)
      ? score - 100
      : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
