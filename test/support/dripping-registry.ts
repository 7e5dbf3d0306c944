/** A registry whose images arrive a byte a second; of `silent` ones not even the manifest does. */
export function startDrippingRegistry({ layers = 4 } = {}) {
  const begun = Promise.withResolvers<void>()
  const hash = (text: string) =>
    `sha256:${new Bun.CryptoHasher('sha256').update(text).digest('hex')}`
  const random = () => hash(crypto.randomUUID())
  const rootfs = { type: 'layers', diff_ids: Array.from({ length: layers }, random) }
  const config = JSON.stringify({ architecture: 'amd64', os: 'linux', config: {}, rootfs })
  const kind = 'application/vnd.docker'
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: `${kind}.distribution.manifest.v2+json`,
    config: {
      mediaType: `${kind}.container.image.v1+json`,
      size: config.length,
      digest: hash(config),
    },
    layers: Array.from({ length: layers }, () => ({
      mediaType: `${kind}.image.rootfs.diff.tar.gzip`,
      size: 10_000_000,
      digest: random(),
    })),
  })
  const drops = () =>
    new ReadableStream({
      async pull(controller) {
        await Bun.sleep(1000)
        controller.enqueue(new Uint8Array(1))
      },
    })
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch({ url, method }) {
      const { pathname: path } = new URL(url)
      if (path === '/v2/') return new Response('{}')
      if (path.includes('silent')) return new Promise(() => {})
      if (path.endsWith(hash(config))) return new Response(config)
      if (path.includes('/blobs/')) {
        begun.resolve()
        return new Response(drops(), { headers: { 'Content-Length': '10000000' } })
      }
      const headers = {
        'Content-Type': `${kind}.distribution.manifest.v2+json`,
        'Docker-Content-Digest': hash(manifest),
        'Content-Length': `${manifest.length}`,
      }
      return new Response(method === 'HEAD' ? null : manifest, { headers })
    },
  })
  return {
    host: `127.0.0.1:${server.port}`,
    /** Resolves once a layer is on its way. */
    begun: begun.promise,
    stop: () => server.stop(true),
  }
}
