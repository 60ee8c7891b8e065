// A chain drawn as a graph: agents from top to bottom, and between them what one grants to the next.

/** The outcome of a check. */
export type State = "holds" | "fails" | "unchecked";

/** One arrow. */
export interface Edge {
  from: string;
  to: string;
  /** Lines beside the arrow. */
  said: string[];
  state: State;
}

const WIDTH = 720;
const NODE = { width: 300, height: 40 };
const LINE = 17;
const SVG = "http://www.w3.org/2000/svg";

function make(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const made = document.createElementNS(SVG, tag) as SVGElement;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}

const words: Record<State, string> = { holds: "holds", fails: "fails", unchecked: "not checked" };
const signs: Record<State, string> = { holds: "", fails: "✗ ", unchecked: "? " };
const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** The drawing, with a sentence for those who do not see it. */
export function graph(edges: Edge[], name: (did: string) => string): HTMLElement {
  const nodes = [edges[0]?.from ?? "", ...edges.map(({ to }) => to)];
  const gaps = edges.map(({ said }) => Math.max(56, 24 + said.length * LINE));
  const height = nodes.length * NODE.height + gaps.reduce((sum, gap) => sum + gap, 0) + 4;
  const sentence = edges.map(({ from, to, said, state }) => `${name(from)} to ${name(to)}: ${said.join("; ")}; ${words[state]}.`).join(" ");
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img", "aria-label": sentence });
  let y = 2;
  nodes.forEach((node, i) => {
    svg.append(make("rect", { class: "node", x: 2, y, width: NODE.width, height: NODE.height, rx: 8 }));
    svg.append(make("text", { x: 16, y: y + 25 }, cut(name(node), 38)));
    y += NODE.height;
    const edge = edges[i];
    const gap = gaps[i];
    if (!edge || gap === undefined) return;
    const group = make("g", { class: edge.state });
    const x = NODE.width / 2;
    group.append(make("line", { class: "edge", x1: x, y1: y, x2: x, y2: y + gap - 9 }));
    group.append(make("polygon", { class: "head", points: `${x - 6},${y + gap - 10} ${x + 6},${y + gap - 10} ${x},${y + gap}` }));
    const top = y + (gap - edge.said.length * LINE) / 2 + 12;
    edge.said.forEach((line, k) => {
      group.append(make("text", { class: edge.state === "fails" ? "" : "quiet", x: x + 18, y: top + k * LINE }, cut(signs[edge.state] + line, 78)));
    });
    svg.append(group);
    y += gap;
  });
  const figure = document.createElement("figure");
  figure.append(svg);
  return figure;
}
