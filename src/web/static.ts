import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { notFound } from '../platform/errors.ts'
import { root } from '../platform/root.ts'
import { factory } from './factory.ts'

type Asset = { body: Uint8Array<ArrayBuffer>; type: string; hash: string }

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

const folder = join(root, 'assets')

/** In the repository, or inside the executable. */
const names = new Set(
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => types[extname(name)]),
)

/** Read, and packed, when they are first asked for; small enough to stay in memory. */
const assets = new Map<string, Asset>()
const packed = new Map<string, Uint8Array<ArrayBuffer>>()

function findAsset(name: string): Asset | undefined {
  if (!names.has(name)) return undefined
  return assets.getOrInsertComputed(name, () => {
    const body = new Uint8Array(readFileSync(join(folder, name)))
    const hash = new Bun.CryptoHasher('sha256').update(body).digest('hex').slice(0, 12)
    return { body, type: types[extname(name)]!, hash }
  })
}

/** The address of a file in `assets/`: it changes with the content, so that browsers may keep it for ever. */
export function assetPath(name: string) {
  const asset = findAsset(name)
  if (!asset) throw new Error(`assets/${name} does not exist`)
  return `/static/${name}?v=${asset.hash}`
}

export const staticRoutes = () =>
  factory.createApp().get('/static/*', (c) => {
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
    if (!c.req.header('Accept-Encoding')?.includes('gzip')) return c.body(asset.body)
    c.header('Content-Encoding', 'gzip')
    return c.body(packed.getOrInsertComputed(name, () => Bun.gzipSync(asset.body)))
  })
