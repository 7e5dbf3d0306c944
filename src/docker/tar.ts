export type ArchivedFile = {
  path: string
  content: string | Uint8Array
  /** Permissions, such as 0o644. */
  mode: number
}

export const blockSize = 512
const longestName = 100

/** Returns a tar archive of plain files that belong to root. */
export function tarOf(files: ArchivedFile[]): Buffer {
  const entries = files.flatMap(({ path, content, mode }) => {
    const bytes = Buffer.from(content as Uint8Array)
    return [tarHead({ path, mode, size: bytes.length }), bytes, tarPadding(bytes.length)]
  })
  return Buffer.concat([...entries, Buffer.alloc(2 * blockSize)])
}

export function tarHead({ path, mode, size }: { path: string; mode: number; size: number }) {
  const name = Buffer.from(path.replace(/^\/+/, ''))
  const head = header(name.subarray(0, longestName), { type: '0', mode, size })
  return Buffer.concat([...longName('path', name), head])
}

/** A symbolic link. */
export function tarLink({ path, target }: { path: string; target: string }) {
  const [name, to] = [Buffer.from(path), Buffer.from(target)]
  const short = { name: name.subarray(0, longestName), target: to.subarray(0, longestName) }
  const head = header(short.name, { type: '2', mode: 0o777, size: 0, target: short.target })
  return Buffer.concat([...longName('path', name), ...longName('linkpath', to), head])
}

export const tarPadding = (size: number) =>
  Buffer.alloc((blockSize - (size % blockSize)) % blockSize)

/** A name that doesn't fit into a header gets its own entry before it. */
function longName(key: 'path' | 'linkpath', name: Buffer): Buffer[] {
  if (name.length <= longestName) return []
  const record = extendedRecord(key, name)
  const title = header(Buffer.from('pax'), { type: 'x', mode: 0o644, size: record.length })
  return [title, record, tarPadding(record.length)]
}

/** `<length> path=<name>\n`, where the length counts its own digits too. */
function extendedRecord(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')])
  let length = rest.length
  while (length !== rest.length + String(length).length)
    length = rest.length + String(length).length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

type Header = { type: string; mode: number; size: number; target?: Buffer }

function header(name: Buffer, { type, mode, size, target }: Header) {
  const block = Buffer.alloc(blockSize)
  name.copy(block)
  block.write(octal(mode & 0o7777, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(Math.floor(Date.now() / 1000), 11), 136)
  target?.copy(block, 157)
  // the checksum is computed with its own field filled with spaces
  block.write(`        ${type}`, 148)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\0 `, 148)
  return block
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
