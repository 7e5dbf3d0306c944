import { z } from 'zod'
import type { Config } from '../config.ts'
import type { Docker, RegistryAuth } from '../docker/index.ts'
import { pullFailure } from '../docker/pull-failures.ts'
import { Failure } from '../platform/errors.ts'
import { inCidrs, isLoopback } from '../platform/hosts.ts'
import type { Lookup } from '../platform/hosts.ts'
import { jsonOrNull } from '../platform/json.ts'
import { parse } from '../platform/parse.ts'
import { pinnedFetch } from '../platform/pinned-fetch.ts'
import type { Pinning } from '../platform/pinned-fetch.ts'
import { dockerHub, repositoryOf } from './image-registry.ts'
import type { ImageReference } from './image-registry.ts'
import type { readTags } from './tags.ts'

export type RemoteDeps = {
  config: Pick<Config, 'allowHosts'>
  docker: Pick<Docker, 'machine'>
  /** Another name server, in tests. */
  lookup?: Lookup
}

type Options = {
  reference: ImageReference
  auth: RegistryAuth | undefined
  ownerId: string
  signal: AbortSignal
  /** To read, if omitted. */
  access?: 'pull,delete'
  /** Milliseconds for one response. */
  timeout?: number
  /** Called with the time until which the registry refuses requests, or nearly. */
  onBusy?: ((until: number) => void) | undefined
}

type Ask = { method?: 'HEAD' | 'DELETE'; accept?: string; etag?: string | null; maxBytes?: number }

/** Bytes of a manifest or of an image's configuration, and of a page of tags. */
const maxBytes = { manifest: 2 ** 20, tags: 2 * 2 ** 20, token: 64 * 1024 }

/** Pages of tags; of a thousand each, if the registry sends as many. */
const maxPages = 100

const manifests = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

const digestPattern = /^sha256:[0-9a-f]{64}$/

/**
 * A repository as its registry has it, read with its owner's login. Docker can neither list tags, nor say how
 * large an image is, nor delete one.
 */
export class RemoteRepository {
  #authorization: string | null = null

  constructor(
    readonly deps: RemoteDeps,
    readonly options: Options,
  ) {}

  /** The newest tag that matches, or null; `unchanged` when the list is the one of this ETag. */
  async newest(pattern: string, known: string | null = null) {
    let newest: string | null = null
    let etag: string | null = null
    for await (const { page, isOnly } of this.#pages(known)) {
      if (page.status === 304) return 'unchanged' as const
      newest = await this.#newestOf(await page.text(), { pattern, newest })
      if (isOnly) etag = page.headers.get('ETag')?.slice(0, 200) ?? null
    }
    return { tag: newest, etag }
  }

  async tags() {
    const tags: string[] = []
    for await (const { page } of this.#pages()) {
      const { data } = tagList.safeParse(jsonOrNull(await page.text()))
      if (!data) throw this.failure('registry_garbled')
      tags.push(...(data.tags ?? []))
    }
    return tags
  }

  async *#pages(known: string | null = null) {
    const seen = new Set<string>()
    for (let query: string | null = '?n=1000'; query !== null;) {
      if (seen.size >= maxPages) throw this.failure('too_many_tags')
      seen.add(query)
      const page: Response = await this.#ask(`tags/list${query}`, {
        etag: query === '?n=1000' ? known : null,
        maxBytes: maxBytes.tags,
      })
      const next = queryOfNext(page)
      if (next !== null && seen.has(next)) throw this.failure('registry_garbled')
      yield { page, isOnly: seen.size === 1 && next === null }
      query = next
    }
  }

  async #newestOf(text: string, asked: { pattern: string; newest: string | null }) {
    const { signal, ownerId: owner } = this.options
    const tooLong = () => this.failure('registry_garbled')
    const args: Parameters<typeof readTags> = [text, asked]
    const found = await parse<typeof readTags>('readTags', args, { tooLong, owner, signal })
    if (!found) throw this.failure('registry_garbled')
    return found.newest
  }

  /** The digest of a tag, which costs none of the pulls that a registry allows. */
  async digest(tag: string): Promise<string> {
    const head = await this.#ask(`manifests/${tag}`, { method: 'HEAD', accept: manifests })
    const digest = head.headers.get('Docker-Content-Digest')
    return digest && digestPattern.test(digest) ? digest : (await this.manifest(tag)).digest
  }

  async manifest(tag: string): Promise<{ digest: string; json: unknown }> {
    const found = await this.#ask(`manifests/${tag}`, { accept: manifests })
    const bytes = new Uint8Array(await found.arrayBuffer())
    const digest = `sha256:${new Bun.CryptoHasher('sha256').update(bytes).digest('hex')}`
    if (digestPattern.test(tag) && tag !== digest) throw this.failure('registry_garbled')
    return { digest, json: jsonOrNull(new TextDecoder().decode(bytes)) }
  }

  /** Removes all tags of it, too. */
  async remove(digest: string) {
    await this.#ask(`manifests/${digest}`, { method: 'DELETE' })
  }

  async blob(digest: string): Promise<unknown> {
    return jsonOrNull(await (await this.#ask(`blobs/${digest}`)).text())
  }

  /** A response with a success, or 304 to an ETag. Logs in at most once. */
  async #ask(path: string, ask: Ask = {}): Promise<Response> {
    const host = this.options.reference.registry
    const origin = await this.#origin(host === dockerHub ? 'registry-1.docker.io' : host)
    const url = new URL(`${origin}/v2/${this.options.reference.path}/${path}`)
    // what the registry redirects to may name no server of logins
    let response = await this.#fetch(url, ask, { keepsRedirect: true })
    if (response.status === 401) {
      await this.#logIn(url, response.headers.get('WWW-Authenticate') ?? '')
      response = await this.#fetch(url, ask, { keepsRedirect: true })
    }
    if (/^30[12378]$/.test(String(response.status)))
      response = await this.#fetch(url, ask, { mayLeave: true })
    this.#noteLimit(response)
    if (response.ok || (response.status === 304 && ask.etag)) return response
    throw this.failure(codes[response.status] ?? 'registry_failed', response.status)
  }

  #fetch(
    url: URL,
    { method, accept, etag, maxBytes: most = maxBytes.manifest }: Ask,
    redirects: Pick<Pinning, 'keepsRedirect' | 'mayLeave'>,
  ) {
    const { signal, timeout } = this.options
    const headers = {
      Accept: accept ?? 'application/json',
      ...(this.#authorization && { Authorization: this.#authorization }),
      ...(etag && { 'If-None-Match': etag }),
    }
    return pinnedFetch(
      url,
      { headers, ...(method && { method }) },
      { ...this.#pinning, signal, maxBytes: most, ...redirects, ...(timeout && { timeout }) },
    )
  }

  get #pinning() {
    const { config, lookup } = this.deps
    return { allow: config.allowHosts, lookup }
  }

  /** Plain HTTP is for registries with which Docker uses it. */
  async #origin(host: string) {
    const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
    const { signal } = this.options
    const { insecureRegistries } = await this.deps.docker.machine({ signal })
    const isPlain =
      isLoopback(name) ||
      insecureRegistries.includes(host) ||
      inCidrs(
        name,
        insecureRegistries.filter((entry) => entry.includes('/')),
      )
    return `${isPlain ? 'http' : 'https'}://${host}`
  }

  /** With a token of the server that the registry names, as `docker login` does, or with the login itself. */
  async #logIn(url: URL, challenge: string) {
    const { auth, signal, timeout } = this.options
    const basic =
      auth && `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`
    if (/^basic\b/i.test(challenge) && basic) return void (this.#authorization = basic)
    const parts = new Map<string, string>()
    for (const [, name, value] of challenge.slice(0, 4000).matchAll(/(\w+)="([^"]*)"/g))
      parts.set(name!.toLowerCase(), value!)
    const realm = URL.parse(parts.get('realm') ?? '')
    const isSafe = realm?.protocol === 'https:' || (realm && realm.origin === url.origin)
    if (!/^bearer\b/i.test(challenge) || !realm || !isSafe)
      throw this.failure('registry_unauthorized')
    realm.searchParams.set('service', parts.get('service') ?? '')
    realm.searchParams.set(
      'scope',
      `repository:${this.options.reference.path}:${this.options.access ?? 'pull'}`,
    )
    const answer = await pinnedFetch(
      realm,
      { headers: { Accept: 'application/json', ...(basic && { Authorization: basic }) } },
      { ...this.#pinning, signal, maxBytes: maxBytes.token, ...(timeout && { timeout }) },
    )
    this.#noteLimit(answer)
    if (!answer.ok)
      throw this.failure(answer.status === 429 ? 'registry_busy' : 'registry_unauthorized')
    const { token, access_token } = tokenAnswer.parse(jsonOrNull(await answer.text()))
    const given = token ?? access_token
    if (!given) throw this.failure('registry_garbled')
    this.#authorization = `Bearer ${given}`
  }

  /** Docker Hub also says how many pulls are left, for which Davit then leaves the rest to Docker. */
  #noteLimit({ status, headers }: Response) {
    const isSpent = /^0(;|$)/.test(headers.get('ratelimit-remaining') ?? '')
    if (status !== 429 && !isSpent) return
    const after = headers.get('Retry-After') ?? ''
    const ms = /^\d{1,9}$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
    const wait = Math.min(Math.max(ms || pause.usual, pause.least), pause.most)
    this.options.onBusy?.(Date.now() + wait)
  }

  failure(code: OwnCode | PullCode, status?: number) {
    const { reference } = this.options
    const name = repositoryOf(reference).replace(/^docker\.io\/(library\/)?/, '')
    const own = explanations.find((one) => one.code === code)
    if (!own) return pullFailure(code, name)
    return new Failure(code, own.says({ name, registry: reference.registry, status }), own.hint)
  }
}

/** Milliseconds for which a registry that is busy isn't asked, by what it says or without that. */
const pause = { least: 60_000, usual: 15 * 60_000, most: 6 * 3_600_000 }

const tagList = z.object({ tags: z.array(z.string().max(128)).nullish() })

const headerText = z
  .string()
  .max(32_000)
  .regex(/^[\x21-\x7e]+$/)

const tokenAnswer = z
  .object({ token: headerText.nullish(), access_token: headerText.nullish() })
  .catch({ token: null })

/** Only the query is used: behind a proxy the link may name another host. */
function queryOfNext({ headers }: Response): string | null {
  const [, target] = /<([^<>]{1,4000})>\s*;\s*rel="?next"?/.exec(headers.get('Link') ?? '') ?? []
  return target === undefined ? null : (URL.parse(target, 'https://registry.invalid')?.search ?? '')
}

const codes: Record<number, Parameters<RemoteRepository['failure']>[0]> = {
  401: 'registry_unauthorized',
  403: 'registry_unauthorized',
  404: 'image_not_found',
  405: 'registry_keeps_images',
  429: 'registry_busy',
}

/** Those that Docker doesn't have, as it neither lists tags nor reads what it doesn't pull. */
const explanations = [
  {
    code: 'registry_failed',
    says: ({ registry, status }: About) => `The registry ${registry} failed with status ${status}.`,
    hint: 'Try again later. If it keeps failing, check the registry.',
  },
  {
    code: 'registry_garbled',
    says: ({ registry }: About) =>
      `The registry ${registry} sent something that isn’t a list of tags, a manifest or a token.`,
    hint: 'Check that the host is a registry, and what stands before it.',
  },
  {
    code: 'registry_keeps_images',
    says: ({ registry }: About) =>
      `The registry ${registry} doesn’t allow images to be deleted, so those of old releases stay there.`,
    hint: 'Allow it there (storage, delete, enabled in the distribution’s), or delete old images there yourself.',
  },
  {
    code: 'too_many_tags',
    says: ({ name }: About) => `${name} has too many tags to follow a pattern.`,
    hint: 'Delete old tags, or deploy new versions with the deploy hook.',
  },
] as const

type About = { name: string; registry: string; status: number | undefined }
type OwnCode = (typeof explanations)[number]['code']
type PullCode = 'registry_unauthorized' | 'image_not_found' | 'registry_busy'
