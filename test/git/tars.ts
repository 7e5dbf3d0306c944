/** An entry as a program of another kind writes it: `type` is that of the format, a file by default. */
export type TarItem = {
  path: string
  content?: string | Uint8Array
  type?: string
  target?: string
  mode?: number
  /** Claims another size than that of the content. */
  size?: number
}

/** A tar archive (ustar) with whatever an attacker writes into it. */
export const aTar = (items: TarItem[], { end = true } = {}) =>
  Buffer.concat([...items.flatMap(entry), end ? Buffer.alloc(1024) : Buffer.alloc(0)])

/** The files of an app, by path. */
export const tarOf = (files: Record<string, string>) =>
  aTar(Object.entries(files).map(([path, content]) => ({ path, content })))

function entry({ path, content = '', type = '0', target = '', mode = 0o644, size }: TarItem) {
  const bytes = Buffer.from(content as string)
  const head = Buffer.alloc(512)
  head.write(path, 0, 'latin1')
  head.write(mode.toString(8).padStart(7, '0'), 100)
  head.write('0000000', 108)
  head.write('0000000', 116)
  head.write((size ?? bytes.length).toString(8).padStart(11, '0'), 124)
  head.write('00000000000', 136)
  head.write(`        ${type}`, 148)
  head.write(target, 157, 'latin1')
  head.write('ustar\x0000', 257)
  head.write(
    `${head
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  )
  return [head, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
}

/** The record of a pax header: its length counts itself. */
export const aRecord = (key: string, value: string) => {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  const digits = [2, 3, 4].find((count) => String(bytes + count).length === count)!
  return `${bytes + digits}${rest}`
}

/** Empty files, made quickly: only names and checksums differ. */
export function manyFiles(count: number) {
  const [head] = [aTar([{ path: 'f0000000' }], { end: false })]
  const all = Buffer.alloc(head.length * count + 1024)
  const zeros = head.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0)
  for (let at = 0; at < count; at++) {
    const from = at * head.length
    head.copy(all, from)
    const digits = String(at).padStart(7, '0')
    all.write(digits, from + 1)
    const sum = zeros + [...digits].reduce((total, digit) => total + Number(digit), 0)
    all.write(sum.toString(8).padStart(6, '0'), from + 148)
  }
  return all
}
