import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { root } from '../platform/root.ts'
import type { GitTools } from './tools.ts'
import { runGit } from './run.ts'

/** The sample app that is part of Davit. No server can ever have it, as `.invalid` never resolves. */
export const sampleUrl = 'https://sample.davit.invalid/hello.git'

const files = ['Dockerfile', 'index.html']

/** The date of its commit, in seconds since 1970. Fixed, so that the hash is the same everywhere. */
const written = 1_795_305_600

/**
 * Makes git read the sample from the data folder in place of its URL, and nothing else from this machine. The
 * repository is written on first use.
 */
export async function readSample(tools: GitTools, signal: AbortSignal) {
  const path = await sampleRepository(tools, signal)
  return {
    GIT_ALLOW_PROTOCOL: 'file',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.${path}.insteadOf`,
    GIT_CONFIG_VALUE_0: sampleUrl,
  }
}

/** The folder is named by a hash of its content, and appears at once when it is complete. */
async function sampleRepository(tools: GitTools, signal: AbortSignal) {
  const stream = await commitStream()
  const hash = new Bun.CryptoHasher('sha256').update(stream).digest('hex').slice(0, 16)
  const folder = join(dirname(tools.mirrors), 'sample')
  const path = join(folder, `${hash}.git`)
  return tools.locks.run(folder, signal, async () => {
    if (await stat(path).catch(() => null)) return path
    await rm(folder, { recursive: true, force: true }) // one of another version, or an unfinished one
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const fresh = join(folder, 'fresh.git')
    const init = ['--quiet', '--bare', '--initial-branch=main', '--template=']
    const at = { mirror: fresh, signal }
    await runGit(tools.setup, { command: 'init', options: init, ...at })
    await runGit(tools.setup, {
      command: 'fast-import',
      options: ['--quiet'],
      input: stream,
      ...at,
    })
    await rename(fresh, path)
    return path
  })
}

/** One commit with all files, in the format of `git fast-import`. */
async function commitStream() {
  const contents = await Promise.all(
    files.map(async (name) => {
      const text = await Bun.file(join(root, 'assets/sample', name)).text()
      return `M 100644 inline ${name}\n${dataOf(text)}`
    }),
  )
  const who = `Davit <davit@davit.invalid> ${written} +0000`
  const commit = `commit refs/heads/main\ncommitter ${who}\n${dataOf('Say hello')}`
  return new TextEncoder().encode(commit + contents.join('')) as Uint8Array<ArrayBuffer>
}

const dataOf = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
