/* The front page: a sentence that follows the model in the frame, light and dark for both, and buttons that copy. */
(() => {
  const figure = document.querySelector("figure.live");
  if (!figure) return;
  const frame = figure.querySelector("iframe");
  const sentence = figure.querySelector(".sentence");
  const wording = JSON.parse(figure.querySelector(".wording").textContent);
  const invitation = sentence.textContent;
  let { fragment } = frame.dataset;

  const percent = (p) => `${Math.round(100 * p)} %`;
  const phrases = (known, join) => known.map(([name, values]) => values.map((value) => wording[name][value].who).join(" or ")).join(join);

  function likelier({ before, after }) {
    const ratio = after / before;
    if (ratio < 1.05) return "hardly more likely";
    return ratio < 1.95 ? `${Math.round(100 * (ratio - 1))} % more likely` : `${ratio.toFixed(1)} times as likely`;
  }

  function write({ evidence, outcome }) {
    if (!evidence.length || !outcome) return void (sentence.textContent = invitation);
    const { name, value, before, after } = outcome;
    const strong = document.createElement("strong");
    strong.textContent = `${percent(before)} → ${percent(after)}`;
    const words = `People who ${phrases(evidence, " and ")} are ${likelier(outcome)} ${wording[name][value].likely}: `;
    sentence.replaceChildren(words, strong, ". Click any bar.");
  }

  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow || data?.from !== "mrfit explorer") return;
    fragment = data.fragment;
    write(data);
  });

  for (const button of figure.querySelectorAll("button[data-fragment]")) {
    button.addEventListener("click", () => {
      fragment = button.dataset.fragment;
      follow();
    });
  }

  /* Shows what is supposed, as light or dark as the site. */
  function follow() {
    const chosen = document.body.dataset.theme;
    const isDark = chosen === "dark" || (chosen === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    const parts = new URLSearchParams(fragment);
    parts.set("theme", isDark ? "dark" : "light");
    const address = new URL(`${frame.dataset.src}#${parts}`, location.href).href;
    if (frame.src) frame.contentWindow.location.replace(address);
    else frame.src = address;
  }
  new MutationObserver(follow).observe(document.body, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
  follow();

  if (!navigator.clipboard) return;
  for (const block of figure.parentElement.querySelectorAll(":scope > div > .highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.querySelector("pre").textContent.trim());
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
})();
