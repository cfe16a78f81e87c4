// The colours of the picture, in light and dark; all pairs of text and ground have a contrast of 4.5 or more.

export interface Palette {
  ground: string;
  card: string;
  line: string;
  ink: string;
  quiet: string;
  bar: string;
  track: string;
  together: string; // edges: blue and red as in all pictures of the library, dashed when negative
  apart: string;
  neither: string;
  onlyA: string; // of two models
  onlyB: string;
  known: string;
  knownCard: string;
  likelier: string; // change: orange and purple
  lessLikely: string;
  communities: string[]; // Okabe and Ito, tempered
}

export const LIGHT: Palette = {
  ground: "#f7f7f5",
  card: "#ffffff",
  line: "#d8dbe0",
  ink: "#15181d",
  quiet: "#5a6270",
  bar: "#6b7a94",
  track: "#e8ebef",
  together: "#2166ac",
  apart: "#b2182b",
  neither: "#6e6e6e",
  onlyA: "#b35806",
  onlyB: "#6a3d9a",
  known: "#a8500a",
  knownCard: "#fff1dd",
  likelier: "#d06a0a",
  lessLikely: "#6a4fc4",
  communities: ["#3a6db5", "#d08a1e", "#2a9073", "#b55d95", "#4ba0c8", "#a8632a", "#7d7f86", "#8a6f3c"],
};

export const DARK: Palette = {
  ground: "#14171c",
  card: "#1c2027",
  line: "#343a45",
  ink: "#f1f3f6",
  quiet: "#a6adba",
  bar: "#8fa3c4",
  track: "#2d333d",
  together: "#6aaeee",
  apart: "#ff8a75",
  neither: "#a3a3a3",
  onlyA: "#f5a951",
  onlyB: "#b9a3f5",
  known: "#ffb64a",
  knownCard: "#3a2a10",
  likelier: "#ffa04a",
  lessLikely: "#ab98f5",
  communities: ["#6f9fe0", "#e0a548", "#4fb898", "#d487b8", "#72c0e4", "#cc8a52", "#a2a5ad", "#b3996a"],
};
