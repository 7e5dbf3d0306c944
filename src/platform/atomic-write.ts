import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'

/** Writes a file for its owner only: all or nothing, even if the disk is full or the power fails. */
export function writeFileAtomically(path: string, content: string | Uint8Array) {
  const draft = `${path}.new`
  const file = openSync(draft, 'w', 0o600)
  try {
    const bytes = Buffer.from(content)
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}

/** Once it returns, a file or the names in a folder are on disk. */
export function sync(path: string) {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
