export type ArchivedFile = {
  path: string
  content: string | Uint8Array
  /** Permissions: 0o644. */
  mode: number
}

const blockSize = 512
const longestName = 100

/** A tar archive of plain files that belong to root. */
export function tarOf(files: ArchivedFile[]): Buffer {
  const end = Buffer.alloc(2 * blockSize)
  return Buffer.concat([...files.flatMap(fileEntries), end])
}

function fileEntries({ path, content, mode }: ArchivedFile): Buffer[] {
  const name = Buffer.from(path.replace(/^\/+/, ''))
  const bytes = Buffer.from(content as Uint8Array)
  const entry = [header(name.subarray(0, longestName), { type: '0', mode, size: bytes.length })]
  entry.push(padded(bytes))
  return name.length > longestName ? [...longName(name), ...entry] : entry
}

/** A name that does not fit into a header stands in an entry of its own before it. */
function longName(name: Buffer): Buffer[] {
  const record = extendedRecord('path', name)
  const title = header(Buffer.from('pax'), { type: 'x', mode: 0o644, size: record.length })
  return [title, padded(record)]
}

/** `<length> path=<name>\n`, where the length counts its own digits too. */
function extendedRecord(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')])
  let length = rest.length
  while (length !== rest.length + String(length).length)
    length = rest.length + String(length).length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

function header(name: Buffer, { type, mode, size }: { type: string; mode: number; size: number }) {
  const block = Buffer.alloc(blockSize)
  name.copy(block)
  block.write(octal(mode & 0o7777, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(Math.floor(Date.now() / 1000), 11), 136)
  // The checksum is taken with its own field full of spaces.
  block.write(`        ${type}`, 148)
  block.write('ustar\x0000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${octal(sum, 6)}\0 `, 148)
  return block
}

const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')

const padded = (bytes: Buffer) =>
  Buffer.concat([bytes, Buffer.alloc((blockSize - (bytes.length % blockSize)) % blockSize)])
