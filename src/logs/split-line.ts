/** Characters after which a line is split. */
const maxLength = 16_384

/** Never cuts a character of two code units in half. NUL, which no text has, is replaced. */
export function splitLine(text: string): string[] {
  const rest = text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
  if (rest.length <= maxLength) return [rest]
  const pieces: string[] = []
  for (let at = 0; at < rest.length;) {
    const last = rest.charCodeAt(at + maxLength - 1)
    const end = at + maxLength - (last >= 0xd800 && last < 0xdc00 ? 1 : 0)
    pieces.push(rest.slice(at, end))
    at = end
  }
  return pieces
}

/** What a terminal would show of a line drawn over and over, as progress bars are. */
export const lastDrawn = (line: string) => line.slice(line.lastIndexOf('\r') + 1)
