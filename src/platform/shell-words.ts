/** Characters that a backslash escapes between double quotes. */
const escapable = ['"', '\\', '$', '`', '\n']

/**
 * Splits a command line into words as a POSIX shell would; nothing else of a shell is interpreted. When it
 * can't be split, throws what `refuse` returns; `problem` is the end of a sentence.
 */
export function splitWords(text: string, refuse: (problem: string) => Error): string[] {
  const words: string[] = []
  let word: string | null = null
  let quote: string | null = null
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (quote === "'") {
      if (char === quote) quote = null
      else word += char
    } else if (char === '\\') {
      const next = text[++at]
      if (next === undefined) throw refuse('ends in a backslash. Remove it.')
      const kept = quote === '"' && !escapable.includes(next) ? `\\${next}` : next
      word = (word ?? '') + (next === '\n' ? '' : kept)
    } else if (quote === '"') {
      if (char === quote) quote = null
      else word += char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else word = (word ?? '') + char
  }
  if (quote) throw refuse(`opens a ${quote} that is never closed. Close it.`)
  return word === null ? words : [...words, word]
}

export const joinWords = (words: string[]) => words.map(quote).join(' ')

const quote = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/**
 * What `sh -c` runs for a line that uses more of a shell than quotes; null for any other line. A single
 * command, or the last of several joined by &&, replaces the shell with exec, to receive its signals.
 */
export function scriptOf(line: string): string | null {
  if (!/[`$&|;<>()*?[\]{}~#!\n]|^\w+=/.test(line)) return null
  if (isSimple.test(line)) return `exec ${line}`
  const parts = line.split(' && ')
  const last = parts.pop()!
  return parts.every((part) => isPlain.test(part)) && isPlain.test(last) && isSimple.test(last)
    ? [...parts, `exec ${last}`].join(' && ')
    : line
}

/** A program: not several, none with variables of its own, and nothing that only a shell has. */
const isSimple =
  /^(?!\w+=|(exec|exit|command|source|cd|\.|:|!|\{|wait|export|set|unset|eval|return|trap|if|for|while|until|case)(\s|$))[^&|;()<>`\n]*$/

/** Without quotes, in which && would be text. */
const isPlain = /^\s*[^\s&|;()<>`\n'"\\#][^&|;()<>`\n'"\\#]*$/

/** The words of a command, given as a line or a list. Never throws for a validated command. */
export const wordsOf = (command: string | string[]): string[] =>
  typeof command === 'string'
    ? splitWords(command, (problem) => new Error(`A command ${problem}`))
    : command
