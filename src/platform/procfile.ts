/** A line of the form `name: command`; the name is '' where it is of another form. */
export type ProcfileLine = { number: number; name: string; command: string }

/** Without empty lines and comments. Names are as Davit writes those of processes. */
export const procfileLines = (text: string): ProcfileLine[] =>
  text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .flatMap((line, index) => {
      const content = line.trim()
      if (content === '' || content.startsWith('#')) return []
      const colon = content.indexOf(':')
      const name = content.slice(0, Math.max(0, colon)).trim().toLowerCase().replaceAll('_', '-')
      return [{ number: index + 1, name, command: content.slice(colon + 1).trim() }]
    })
