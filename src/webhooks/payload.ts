import { z } from 'zod'
import { isCommit } from '../git/ref-names.ts'
import { AppError } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import type { Provider } from './provider.ts'
import type { Pull } from '../previews/pull.ts'
import type { Push } from './push.ts'
import { namesIn } from './repository-names.ts'
import { gitea } from './gitea.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { isUtf8 } from 'node:buffer'
import { pause } from '../platform/pause.ts'

/** In characters. It is read before the signature is checked; providers send a tenth of this. */
const maxRepository = 64 * 1024

/** In characters. Longer JSON is parsed on another thread. */
const maxHere = 16 * 1024

export type Payload = Awaited<ReturnType<typeof readPayload>>

/** One of them has the commit. */
const checkMembers = ['check_run', 'check_suite', 'workflow_run', 'object_attributes', 'sha']

/** In characters, for one of them. */
const maxCheck = 128 * 1024

const hash = z.string().refine(isCommit)
const commitOfChecks = z.union([
  hash,
  z.object({ head_sha: hash }).transform(({ head_sha }) => head_sha),
  z.object({ sha: hash }).transform(({ sha }) => sha),
])

export async function readPayload(provider: Provider, json: Buffer) {
  const { name, members, pulls, repository: keys } = provider
  const found = await membersIn(json, [...members, ...pulls.members, ...checkMembers])
  if (found === null) throw notAnEvent('The body isn’t a JSON object.')
  const repository = found.get(keys.member) ?? ''
  const isReadable = repository !== '' && repository.length <= maxRepository
  return {
    /** The commit whose checks the body is about; null when it names none. */
    readCommit() {
      const texts = checkMembers.flatMap((member) => found.get(member) ?? [])
      for (const text of texts) {
        if (text.length > maxCheck) continue
        const { data } = commitOfChecks.safeParse(parseJson(text))
        if (data) return data.toLowerCase()
      }
      return null
    },
    names: isReadable ? namesIn(parseJson(repository), keys) : null,
    /** Null when the body describes no push. Expensive: only call it for signed bodies. */
    async readPush() {
      const text = textWith(members)
      if (text.length <= maxHere) return readPush(name, text)
      return parse<typeof readPush>('readPush', [name, text], elsewhere)
    },
    /** The same for an event of a pull request; a sentence for one that changes nothing. */
    async readPull() {
      const text = textWith(pulls.members)
      if (text.length <= maxHere) return readPull(name, text)
      return parse<typeof readPull>('readPull', [name, text], elsewhere)
    },
  }

  function textWith(wanted: string[]) {
    return textOf([...found!].filter(([member]) => wanted.includes(member)))
  }
}

/** The error for a body that doesn't match the event in its headers. */
export const notAnEvent = (message: string) => new AppError('bad_request', message)

const unreadable = notAnEvent('The body took too long to read.')

const elsewhere = { owner: 'webhooks', tooLong: () => unreadable }

const textOf = (members: Iterable<[name: string, value: string]>) =>
  `{${Array.from(members, ([name, value]) => `"${name}":${value}`).join(',')}}`

const providers = { gitea, github, gitlab }

/** More than any provider lists. With more, no commit is read. */
const maxCommits = 2500

/** Null when the object describes no push. Call it through `parse` for a long text. */
export function readPush(provider: ProviderName, text: string): Push | null {
  const payload = parseJson(text) as { commits?: unknown }
  if (Array.isArray(payload.commits) && payload.commits.length > maxCommits) delete payload.commits
  return providers[provider].readPush(payload)
}

/** Null when the object describes no pull request. Call it through `parse` for a long text. */
export const readPull = (provider: ProviderName, text: string): Pull | string | null =>
  providers[provider].pulls.read(parseJson(text))

function parseJson(text: string): object {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('bad_request', 'The body isn’t JSON.') // or nested too deeply for the stack
  }
}

/** In bytes, for a member that is kept. Only a list of commits is ever larger. */
const maxMember = 512 * 1024
/** In bytes, for all kept members together. */
const maxKept = 768 * 1024
/** No event has as many. An object with more is refused because each name has a cost. */
const maxMembers = 10_000
/** In bytes, for a name with its quotes. */
const maxName = 1000

/** Steps between which other work may run. */
const slice = 32 * 1024

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Finds top-level members of a JSON object, as raw JSON; null when the bytes aren't an object. Other members
 * are skipped without parsing: `JSON.parse` needs up to a gigabyte for a body that no one has signed.
 */
export async function membersIn(
  json: Buffer,
  names: string[],
): Promise<Map<string, string> | null> {
  const found = new Map<string, Buffer>()
  let kept = 0
  let count = 0
  let depth = 0
  let isBegun = false
  let inString = false
  let from = 0
  let name: string | null = null
  for (let at = 0, steps = 1; at < json.length; at++, steps++) {
    if (steps % slice === 0) await pause()
    const byte = json[at]!
    if (inString) {
      if (byte === backslash) at++
      else if (byte === quote) inString = false
    } else if (depth === 0) {
      if (byte <= 0x20) continue
      if (isBegun || byte !== openBrace) return null
      isBegun = true
      depth = 1
      from = at + 1
    } else if (byte === quote) inString = true
    else if (byte === openBrace || byte === openBracket) depth++
    else if (byte === closeBrace || byte === closeBracket) {
      if (--depth === 0) keep(at)
    } else if (depth === 1 && byte === comma) keep(at)
    else if (depth === 1 && byte === colon && name === null) {
      if (++count > maxMembers) return null
      name = at - from > maxName ? '' : json.toString('utf8', from, at).trim().slice(1, -1)
      from = at + 1
    }
  }
  if (!isBegun || depth > 0 || !found.values().every((value) => isUtf8(value))) return null
  return new Map([...found].map(([name, value]) => [name, value.toString()]))

  function keep(end: number) {
    if (name !== null && names.includes(name)) {
      kept -= found.get(name)?.length ?? 0 // of duplicates, the last one counts
      found.delete(name)
      const size = end - from
      if (size <= maxMember && kept + size <= maxKept) {
        found.set(name, json.subarray(from, end))
        kept += size
      }
    }
    name = null
    from = end + 1
  }
}
