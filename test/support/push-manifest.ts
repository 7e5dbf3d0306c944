type Login = { username: string; password: string }
type Pushed = { user?: Login; repository?: string; tags: string[]; config: object }

/** Pushes an image of a manifest, to `team/app` if not to another, without layers that anything could unpack. Returns its digest. */
export async function pushManifest(
  host: string,
  { user, repository = 'team/app', tags, config }: Pushed,
) {
  const send = async (path: string, type: string, body: string, method = 'PUT') => {
    const login = user && { Authorization: `Basic ${btoa(`${user.username}:${user.password}`)}` }
    const url = path.startsWith('http') ? path : `http://${host}/v2/${repository}/${path}`
    const response = await fetch(url, { method, headers: { 'Content-Type': type, ...login }, body })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status}`)
    return response
  }
  const blob = async (text: string) => {
    const begun = await send('blobs/uploads/', 'text/plain', '', 'POST')
    const to = new URL(begun.headers.get('Location')!, `http://${host}`)
    to.searchParams.set('digest', sha256(text))
    await send(to.href, 'application/octet-stream', text)
    return { digest: sha256(text), size: text.length }
  }
  const [own, layer] = [await blob(JSON.stringify(config)), await blob('x'.repeat(5000))]
  const mediaType = 'application/vnd.docker.distribution.manifest.v2+json'
  const manifest = JSON.stringify({
    ...{ schemaVersion: 2, mediaType },
    config: { mediaType: 'application/vnd.docker.container.image.v1+json', ...own },
    layers: [{ mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', ...layer }],
  })
  await Promise.all(tags.map((tag) => send(`manifests/${tag}`, mediaType, manifest)))
  return sha256(manifest)
}

const sha256 = (text: string) =>
  `sha256:${new Bun.CryptoHasher('sha256').update(text).digest('hex')}`
