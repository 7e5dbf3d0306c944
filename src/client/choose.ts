import { askLine } from '../cli/ask.ts'
import { inOneLine } from '../platform/terminal-text.ts'

/** Asks on a terminal until one of them is chosen by its number or name. */
export async function choose<One>(
  question: string,
  all: One[],
  nameOf: (one: One) => string,
): Promise<One> {
  const list = all.map((one, at) => `  ${at + 1}. ${inOneLine(nameOf(one))}\n`).join('')
  process.stderr.write(`${question}\n${list}`)
  for (;;) {
    const typed = await askLine(`1–${all.length}: `)
    const chosen = all[Number(typed) - 1] ?? all.find((one) => nameOf(one) === typed)
    if (chosen) return chosen
  }
}
