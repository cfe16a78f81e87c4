// The colours of the picture: those of the page's style, light or dark.

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
  kept: string; // the case that others are compared with
  likelier: string; // change: orange and purple
  lessLikely: string;
  communities: string[]; // Okabe and Ito, tempered
}

export function paletteOf(root: HTMLElement): Palette {
  const style = getComputedStyle(root);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ground: of("ground"), card: of("panel"), line: of("line"), ink: of("ink"), quiet: of("quiet"), bar: of("bar"), track: of("track"),
    together: of("together"), apart: of("apart"), neither: of("neither"), onlyA: of("only-a"), onlyB: of("only-b"),
    known: of("known"), knownCard: of("known-ground"), kept: of("kept"), likelier: of("likelier"), lessLikely: of("less"),
    communities: of("communities").split(" "),
  };
}
