import { createHash, createHmac } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Of a request, before it is answered. Returns what is answered instead. */
type Fault = (
  request: Request,
  path: string,
) => Response | undefined | Promise<Response | undefined>

export const s3Keys = { accessKey: 'davit-access', secretKey: 'davit-secret-0123456789' }

/**
 * An S3 server as its API reference describes it, as far as clients that store objects need it, with each
 * object in a file. It checks signatures (version 4, in the header), and takes bodies in signed chunks.
 * Debian has none without a cluster, and those of npm refuse what restic's client signs.
 */
export function startS3({ hostname = '127.0.0.1', buckets = ['backups'] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'davit-s3-'))
  for (const bucket of buckets) mkdirSync(join(folder, bucket))
  const state: { fault: Fault | null; requests: string[] } = { fault: null, requests: [] }
  const server = Bun.serve({
    hostname,
    port: 0,
    idleTimeout: 0,
    maxRequestBodySize: 2 ** 30,
    async fetch(request) {
      const url = new URL(request.url)
      const path = decodeURIComponent(url.pathname).slice(1)
      state.requests.push(`${request.method} ${path}`)
      const answer = await state.fault?.(request, path)
      if (answer) return answer
      const refused = whyRefused(request, url)
      if (refused) return failure(403, refused)
      return respond(folder, { request, url, path })
    },
  })
  return Object.assign(state, {
    folder,
    url: `http://${hostname}:${server.port}`,
    /** Files of the objects of a bucket whose names start so. */
    objects: (prefix: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.startsWith(prefix) && statSync(join(folder, name)).isFile())
        .map((name) => join(folder, name)),
    async stop() {
      await server.stop(true)
      rmSync(folder, { recursive: true, force: true })
    },
  })
}

type Asked = { request: Request; url: URL; path: string }

async function respond(folder: string, { request, url, path }: Asked): Promise<Response> {
  const [bucket = '', ...rest] = path.split('/')
  const key = rest.join('/')
  const { method } = request
  if (method === 'PUT' && key === '') {
    mkdirSync(join(folder, bucket), { recursive: true })
    return new Response()
  }
  if (!existsSync(join(folder, bucket))) return failure(404, 'NoSuchBucket')
  if (url.searchParams.has('location'))
    return xml('<LocationConstraint>us-east-1</LocationConstraint>')
  if (key === '') return method === 'GET' ? listObjects(folder, { bucket, url }) : new Response()
  const file = join(folder, path)
  if (method === 'PUT') {
    mkdirSync(dirname(file), { recursive: true })
    const body = Buffer.from(await request.arrayBuffer())
    const isChunked = request.headers.get('x-amz-content-sha256')?.startsWith('STREAMING-')
    const content = isChunked ? unchunked(body) : body
    const length = request.headers.get('x-amz-decoded-content-length')
    if (length !== null && Number(length) !== content.length) return failure(400, 'IncompleteBody')
    await Bun.write(file, content)
    return new Response(null, { headers: { ETag: etagOf(content) } })
  }
  if (method === 'DELETE') {
    rmSync(file, { force: true })
    return new Response(null, { status: 204 })
  }
  if (!existsSync(file) || statSync(file).isDirectory()) return failure(404, 'NoSuchKey')
  return sendObject(request, file)
}

function sendObject(request: Request, file: string) {
  const stat = statSync(file)
  const headers = {
    ETag: etagOf(Buffer.from(file)),
    'Last-Modified': stat.mtime.toUTCString(),
    'Content-Type': 'application/octet-stream',
  }
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get('range') ?? '') ?? []
  if (from === undefined)
    return request.method === 'HEAD'
      ? new Response(null, { headers: { ...headers, 'Content-Length': String(stat.size) } })
      : new Response(Bun.file(file), { headers })
  const end = to ? Math.min(Number(to), stat.size - 1) : stat.size - 1
  if (Number(from) > end) return failure(416, 'InvalidRange')
  const range = { 'Content-Range': `bytes ${from}-${end}/${stat.size}` }
  const slice = Bun.file(file).slice(Number(from), end + 1)
  return new Response(slice, { status: 206, headers: { ...headers, ...range } })
}

/** All on one page. */
function listObjects(folder: string, { bucket, url }: { bucket: string; url: URL }) {
  const { prefix, delimiter } = Object.fromEntries(url.searchParams) as Record<string, string>
  const root = join(folder, bucket)
  const keys = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(root, name)).isFile() && name.startsWith(prefix ?? ''))
    .sort()
  const prefixes = new Set<string>()
  const contents = keys.flatMap((key) => {
    const at = delimiter ? key.indexOf(delimiter, prefix?.length ?? 0) : -1
    if (at >= 0) prefixes.add(key.slice(0, at + 1))
    const { size, mtime } = statSync(join(root, key))
    return at >= 0
      ? []
      : `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>${mtime.toISOString()}</LastModified><ETag>"0"</ETag><Size>${size}</Size></Contents>`
  })
  const common = [...prefixes].map(
    (one) => `<CommonPrefixes><Prefix>${encodeURIComponent(one)}</Prefix></CommonPrefixes>`,
  )
  return xml(
    `<ListBucketResult><Name>${bucket}</Name><KeyCount>${contents.length}</KeyCount><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>${contents.join('')}${common.join('')}</ListBucketResult>`,
  )
}

const xml = (text: string, status = 200) =>
  new Response(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`, {
    status,
    headers: { 'Content-Type': 'application/xml' },
  })

/** As S3 sends it. */
export const failure = (status: number, code: string) =>
  xml(`<Error><Code>${code}</Code><Message>${said[code] ?? code}</Message></Error>`, status)

const said: Record<string, string> = {
  AccessDenied: 'Access Denied',
  InvalidAccessKeyId: 'The AWS Access Key Id you provided does not exist in our records.',
  SignatureDoesNotMatch:
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  NoSuchBucket: 'The specified bucket does not exist',
  NoSuchKey: 'The specified key does not exist.',
}

const etagOf = (content: Uint8Array) => `"${createHash('md5').update(content).digest('hex')}"`

/** `length;chunk-signature=…`, the bytes, and so on until a length of 0. */
function unchunked(body: Buffer) {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const end = body.indexOf('\r\n', at)
    const length = parseInt(body.toString('latin1', at, end), 16)
    if (!(length > 0)) return Buffer.concat(chunks)
    chunks.push(body.subarray(end + 2, end + 2 + length))
    at = end + 2 + length + 2
  }
}

/** The code of the refusal, or null for a request that is signed with our keys. */
function whyRefused(request: Request, url: URL): string | null {
  const [, credential = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      request.headers.get('authorization') ?? '',
    ) ?? []
  const [accessKey, ...scope] = credential.split('/')
  if (!signature) return 'AccessDenied'
  if (accessKey !== s3Keys.accessKey) return 'InvalidAccessKeyId'
  const query = [...url.searchParams]
    .map((pair) => pair.map(encode).join('='))
    .sort()
    .join('&')
  const headers = names.split(';').map((name) => `${name}:${request.headers.get(name)?.trim()}\n`)
  const hash = request.headers.get('x-amz-content-sha256')
  const asked = [request.method, url.pathname, query, headers.join(''), names, hash].join('\n')
  const digest = createHash('sha256').update(asked).digest('hex')
  const signed = ['AWS4-HMAC-SHA256', request.headers.get('x-amz-date'), scope.join('/'), digest]
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text).digest()
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${s3Keys.secretKey}`)
  return hmac(key, signed.join('\n')).toString('hex') === signature ? null : 'SignatureDoesNotMatch'
}

const encode = (text: string) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
