import { print } from '../cli/command.ts'
import { inLines, inOneLine } from '../platform/terminal-text.ts'
import { colouredText, plainText } from '../web/ansi.ts'
import type { LogLine } from './types.ts'

type Out = NodeJS.WriteStream

/** Only on a terminal, and only without NO_COLOR (no-color.org). */
const hasColours = (out: Out) => out.isTTY === true && !process.env.NO_COLOR

const styles = { dim: 2, red: 31, green: 32 }

const styled = (text: string, style: keyof typeof styles, out: Out) =>
  hasColours(out) ? `\u001b[${styles[style]}m${text}\u001b[0m` : text

/** For a person, beside the result on standard output. */
export function note(text: string, style?: 'red' | 'green') {
  const clean = inLines(text)
  process.stderr.write(`${style ? styled(clean, style, process.stderr) : clean}\n`)
}

export const printJson = (value: unknown) =>
  void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)

/** The result of a command that succeeded: for a program, or in words. */
export function answer(isJson: boolean | undefined, json: unknown, ...lines: string[]) {
  if (isJson) printJson(json)
  else print(...lines)
  return 0
}

/** One object a line, for what goes on. */
export const printJsonLine = (value: unknown) =>
  void process.stdout.write(`${JSON.stringify(value)}\n`)

/** A line that a build or an app wrote: it may have colours, and nothing else may reach the terminal. */
export function printLine({ text, stream }: Pick<LogLine, 'text' | 'stream'>, out: Out) {
  const shown = hasColours(out) ? colouredText(text) : plainText(text)
  out.write(`${stream === 'system' ? styled(shown, 'dim', out) : shown}\n`)
}

/** Aligned columns. */
export const table = (rows: string[][]) => {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]!.length))) ?? []
  return rows.map((row) =>
    row
      .map((cell, at) => inOneLine(cell).padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
}
