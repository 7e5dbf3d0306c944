type Built = {
  /** An index of these, if there are several, or none fits the engine. */
  platforms?: string[]
  /** What its one layer has. */
  bytes?: number
  /** Makes its digest another one. */
  version?: number
}

const hash = (text: string) => `sha256:${new Bun.CryptoHasher('sha256').update(text).digest('hex')}`

/** A registry on loopback with one repository, `team/app`, whose images are manifests alone. */
export function fakeRegistry() {
  const contents = new Map<string, string>()
  const tags = new Map<string, string>()
  const requests: string[] = []
  /** Answers before the registry does. */
  const fault: { answer?: (request: Request) => Response | Promise<Response> | undefined } = {}
  const put = (value: object) => {
    const text = JSON.stringify(value)
    contents.set(hash(text), text)
    return hash(text)
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      requests.push(`${request.method} ${pathname}`)
      const faulty = await fault.answer?.(request)
      if (faulty) return faulty
      const [, kind, name] = /^\/v2\/team\/app\/(tags|manifests|blobs)\/(.+)$/.exec(pathname) ?? []
      if (kind === 'tags') return Response.json({ name: 'team/app', tags: [...tags.keys()] })
      const digest = tags.get(name ?? '') ?? name ?? ''
      const text = contents.get(digest)
      if (text === undefined) return new Response('{}', { status: 404 })
      return new Response(text, { headers: { 'Docker-Content-Digest': digest } })
    },
  })
  const host = `127.0.0.1:${server.port}`

  /** Returns the digest. */
  function push(
    tag: string,
    { platforms = ['linux/amd64'], bytes = 1000, version = 1 }: Built = {},
  ) {
    const manifests = platforms.map((platform) => {
      const [os, architecture, variant] = platform.split('/')
      const config = { digest: put({ os, architecture, version, tag }), size: 10 }
      const digest = put({ schemaVersion: 2, config, layers: [{ size: bytes }] })
      return { digest, platform: { os, architecture, ...(variant && { variant }) } }
    })
    const digest =
      platforms.length === 1 ? manifests[0]!.digest : put({ schemaVersion: 2, manifests })
    tags.set(tag, digest)
    return digest
  }

  return {
    host,
    image: `${host}/team/app`,
    push,
    tags,
    requests,
    fault,
    stop: () => server.stop(true),
  }
}
