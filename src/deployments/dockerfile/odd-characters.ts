import { Failure } from '../../platform/errors.ts'
import type { Instruction } from './instructions.ts'

/**
 * Throws for characters by which a line can end, or begin, for an engine where it does not for us: it
 * reads bytes, and has blanks of its own. One instruction could hide in another behind them.
 */
export function refuseOddCharacters(text: string) {
  const lines = text.replace(/^\uFEFF/, '').split('\n')
  for (const [index, line] of lines.entries()) {
    if (/[\u0085\uFEFF]|\r(?!$)/.test(line))
      throw refused(index + 1, 'holds a blank that is not shown')
    if (line.includes('\uFFFD') && !/^[ \t]*#/.test(line)) throw refused(index + 1, 'is not UTF-8')
  }
}

/** Engines split flags at bytes, which may be the half of a character, and know ONBUİLD for ONBUILD. */
export function refuseOddFlags({ name, flags, line }: Instruction) {
  if (/[^\x20-\x7e]/.test(name))
    throw refused(line, 'begins with other letters than those of ASCII')
  if (flags.some((flag) => /[^\x20-\x7e]/.test(flag)))
    throw refused(line, 'has a flag with other characters than those of ASCII')
}

const refused = (line: number, why: string) =>
  new Failure(
    'dockerfile_invalid',
    `Build failed: line ${line} of the Dockerfile ${why}.`,
    'Type the line again in an editor that saves plain UTF-8.',
  )
