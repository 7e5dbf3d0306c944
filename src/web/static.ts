import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { notFound } from '../platform/errors.ts'
import { root } from '../platform/root.ts'
import { encodingOf } from './compress.ts'
import { factory } from './factory.ts'
import { joinScripts } from './script.ts'
import { joinStyles, styleSources } from './stylesheet.ts'

type Asset = { body: Uint8Array<ArrayBuffer>; type: string; hash: string }

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.mjs': 'text/javascript; charset=utf-8',
}

const folder = join(root, 'assets')

/** In the repository, or inside the executable. Pages load `app.css`, not its sources. */
const names = new Set([
  'app.css',
  ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => types[extname(name)] && !styleSources.includes(name),
  ),
])

/** Once for all clients, and so at the highest level; on other threads, as that takes a while. */
const pack = {
  zstd: async (body: Asset['body']) => new Uint8Array(await Bun.zstdCompress(body, { level: 19 })),
  gzip: async (body: Asset['body']) => new Uint8Array(await promisify(gzip)(body, { level: 9 })),
}

/** Read and compressed on first use; small enough to stay in memory. */
const assets = new Map<string, Asset>()
const packed = new Map<string, Promise<Asset['body']>>()

function findAsset(name: string): Asset | undefined {
  if (!names.has(name)) return undefined
  return assets.getOrInsertComputed(name, () => {
    const body = contentOf(name)
    const hash = new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 12)
    return { body, type: types[extname(name)]!, hash }
  })
}

function contentOf(name: string) {
  if (name === 'app.css') return bytesOf(joinStyles(styleSources.map(readAsset)))
  if (/^[\w-]+\.js$/.test(name))
    return bytesOf(joinScripts(name, { read: readAsset, address: assetPath }))
  return new Uint8Array(readFileSync(join(folder, name)))
}

export const readAsset = (name: string) => readFileSync(join(folder, name), 'utf8')

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))

/** The URL of a file in `assets/`. It changes with the content, so that browsers may cache it forever. */
export function assetPath(name: string) {
  const asset = findAsset(name)
  if (!asset) throw new Error(`assets/${name} does not exist`)
  return `/static/${name}?v=${asset.hash}`
}

/** A data URL of a small drawing, so that no page requests it. */
export const assetData = (name: string) =>
  `data:image/svg+xml,${encodeURIComponent(readAsset(name).replace(/\s+/g, ' '))}`

export const staticRoutes = () =>
  factory.createApp().get('/static/*', async (c) => {
    const name = c.req.path.slice('/static/'.length)
    const asset = findAsset(name)
    if (!asset) throw notFound('file')
    const current = c.req.query('v') === asset.hash
    c.header('Content-Type', asset.type)
    c.header('Cache-Control', current ? 'public, max-age=31536000, immutable' : 'no-cache')
    c.header('ETag', `"${asset.hash}"`)
    c.header('Vary', 'Accept-Encoding')
    // a proxy that compresses marks it as weak: W/"…"
    if (c.req.header('If-None-Match')?.includes(`"${asset.hash}"`)) return c.body(null, 304)
    const encoding = encodingOf(c)
    if (!encoding) return c.body(asset.body)
    c.header('Content-Encoding', encoding)
    const key = `${name} ${encoding}`
    return c.body(await packed.getOrInsertComputed(key, () => pack[encoding](asset.body)))
  })
