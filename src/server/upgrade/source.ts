import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Failure } from '../../platform/errors.ts'
import {
  download,
  mostBytes,
  mostText,
  readIndex,
  releaseUrl,
  textAt,
} from '../../releases/fetch.ts'
import type { Asking } from '../../releases/fetch.ts'
import { thisTarget } from '../../releases/elf.ts'

/** An executable in a file or at a URL, with its checksums and signature. */
export type Source = {
  /** A path or a URL, for messages. */
  place: string
  /** The name in the checksums. */
  name: string
  /** In bytes; null when unknown. */
  size: number | null
  read: (take: (chunk: Uint8Array) => Promise<void>) => Promise<unknown>
  /** Reads a file from the same folder; null when it doesn't exist. */
  beside: (name: string) => Promise<Uint8Array | null>
}

/** Accepts a path, the URL of an executable, or the URL of a `release.json`. */
export async function sourceOf(asked: string, asking: Asking): Promise<Source> {
  if (!/^[a-z]+:\/\//i.test(asked)) return fileSource(resolve(asked), asking)
  const url = releaseUrl(asked, asking)
  const isIndex = url.pathname.endsWith('.json')
  return urlSource(isIndex ? await fileInIndex(url, asking) : url, asking)
}

function fileSource(path: string, { signal }: Asking): Source {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) {
    const hint = 'Give the path of an executable, or its address.'
    throw new Failure('upgrade_file', `There is no file ${path}.`, hint)
  }
  refuseLarge(path, mostBytes)
  return {
    place: path,
    name: basename(path),
    size: found.size,
    async read(take) {
      for await (const chunk of Bun.file(path).stream()) {
        signal.throwIfAborted()
        await take(chunk)
      }
    },
    async beside(name) {
      const file = join(dirname(path), name)
      if (!existsSync(file)) return null
      refuseLarge(file, mostText)
      return Bun.file(file).bytes()
    },
  }
}

function refuseLarge(path: string, most: number) {
  if (statSync(path).size <= most) return
  throw new Failure(
    'upgrade_file',
    `The file ${path} is larger than one of a release.`,
    'Check that it is the right one. Nothing was changed.',
  )
}

const urlSource = (url: URL, asking: Asking): Source => ({
  place: url.href,
  name: url.pathname.split('/').at(-1)!,
  size: null,
  read: (take) => download(url, asking, { maxBytes: mostBytes, timeout: 30 * 60_000, take }),
  beside: (name) => textAt(new URL(name, url), asking),
})

async function fileInIndex(url: URL, asking: Asking) {
  const { version, files } = await readIndex(url, asking)
  const target = thisTarget()
  const name = Object.hasOwn(files, target) ? files[target] : undefined
  if (name !== undefined) return new URL(name, url)
  throw new Failure(
    'release_index',
    `The release ${version} has no executable for ${target}.`,
    'Build it from its sources with npm run build.',
  )
}
