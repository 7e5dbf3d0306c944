/**
 * Writes the drawings that pages use from the packages that draw them: icons of Lucide into
 * src/web/icon-shapes.ts, logos of Simple Icons into assets/logos.svg; and uPlot into assets/vendor.
 * Run it (`bun run drawings`) after a change of the lists below or of the packages.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as simpleIcons from 'simple-icons'
import { rounded } from './svg-path.ts'

const root = join(import.meta.dir, '../..')

const read = (path: string) => readFileSync(join(root, 'node_modules', path), 'utf8')

export const iconNames = [
  ...['activity', 'arrow-up', 'book-open', 'boxes', 'braces', 'chart-line', 'check'],
  ...['chevron-down', 'circle', 'clock', 'container', 'copy', 'cpu', 'database'],
  ...['download', 'ellipsis', 'external-link', 'eye', 'file-up', 'folder-git-2'],
  ...['git-branch', 'globe', 'info', 'key-round', 'layout-dashboard', 'loader-circle'],
  ...['lock', 'log-out', 'logs', 'maximize', 'minus', 'monitor', 'moon', 'network'],
  ...['pencil', 'play', 'plus', 'rocket', 'rotate-cw', 'scroll-text', 'search', 'server'],
  ...['settings', 'square', 'sun', 'tag', 'terminal', 'trash-2', 'triangle-alert', 'user'],
  ...['users', 'webhook', 'workflow', 'x'],
]

/** By the name that a template or an image has; what stands behind it is Simple Icons' own name. */
const logoNames: Record<string, string> = {
  bitbucket: 'bitbucket',
  caddy: 'caddy',
  changedetection: 'changedetection',
  clickhouse: 'clickhouse',
  directus: 'directus',
  docker: 'docker',
  elasticsearch: 'elasticsearch',
  forgejo: 'forgejo',
  ghost: 'ghost',
  gitea: 'gitea',
  github: 'github',
  gitlab: 'gitlab',
  grafana: 'grafana',
  immich: 'immich',
  influxdb: 'influxdb',
  keycloak: 'keycloak',
  mariadb: 'mariadb',
  meilisearch: 'meilisearch',
  metabase: 'metabase',
  minio: 'minio',
  mongodb: 'mongodb',
  mosquitto: 'eclipsemosquitto',
  mysql: 'mysql',
  n8n: 'n8n',
  nats: 'natsdotio',
  nextcloud: 'nextcloud',
  nginx: 'nginx',
  ntfy: 'ntfy',
  plausible: 'plausibleanalytics',
  postgresql: 'postgresql',
  prometheus: 'prometheus',
  rabbitmq: 'rabbitmq',
  redis: 'redis',
  traefik: 'traefikproxy',
  umami: 'umami',
  'uptime-kuma': 'uptimekuma',
  vaultwarden: 'vaultwarden',
  wikijs: 'wikidotjs',
  wordpress: 'wordpress',
}

/** The files as they should be, by their path. */
export const drawings = (): Record<string, string> => ({
  'src/web/icon-shapes.ts': iconModule(),
  'assets/logos.svg': logoSprite(),
  'assets/vendor/uplot.min.js': chartModule(),
  'assets/vendor/uplot.css': `${uplotNotice}\n${read('uplot/dist/uPlot.min.css')}`,
})

function iconModule() {
  const lines = iconNames.map((name) => `  '${name}': '${shapeOf(name)}',`)
  return `// Written by test/support/drawings.ts. Icons of Lucide ${versionOf('lucide-static')}, https://lucide.dev (ISC licence;
// some of Feather, MIT licence): copyright (c) 2026 Lucide Icons and Contributors, (c) 2013-present Cole Bemis.
// prettier-ignore
export const iconShapes = {
${lines.join('\n')}
} as const
`
}

const uplotNotice = `/*! uPlot ${versionOf('uplot')}, MIT, https://github.com/leeoniya/uPlot */`

/** Its smallest file, as a module. */
const chartModule = () =>
  `${uplotNotice}\n${read('uplot/dist/uPlot.iife.min.js')}\nexport default uPlot\n`

/** What stands between the tags of an icon's file, in one line. */
function shapeOf(name: string) {
  const text = read(`lucide-static/icons/${name}.svg`)
  const inner = text.slice(text.indexOf('\n>') + 2, text.indexOf('</svg>'))
  return inner
    .split('\n')
    .map((line) => line.trim())
    .join('')
    .replaceAll(' />', '/>')
}

function logoSprite() {
  const symbols = Object.entries(logoNames).map(([name, slug]) => {
    const { hex, path } = iconOf(slug)
    return `<symbol id="${name}" viewBox="0 0 24 24" fill="${legible(hex)}"><path d="${rounded(path)}"/></symbol>`
  })
  return `<!-- Written by test/support/drawings.ts. Logos of Simple Icons ${versionOf('simple-icons')}, https://simpleicons.org (CC0); they are trademarks of their owners. -->
<svg xmlns="http://www.w3.org/2000/svg">
${symbols.join('\n')}
</svg>
`
}

function iconOf(slug: string) {
  const found = Object.values(simpleIcons).find((icon) => icon.slug === slug)
  if (!found) throw new Error(`Simple Icons has no ${slug}`)
  return found
}

function versionOf(name: string) {
  return JSON.parse(read(`${name}/package.json`)).version as string
}

/** What has 3 to 1 against a white page and against a dark one. */
const dimmest = 0.165
const brightest = 0.29

/** The colour as near to the brand's as both themes can show; a grey one takes that of the text. */
function legible(hex: string) {
  const rgb = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16))
  if (Math.max(...rgb) - Math.min(...rgb) < 24) return 'currentColor'
  const found = [rgb, ...toward(rgb, 0), ...toward(rgb, 255)].find((colour) => {
    const luminance = luminanceOf(colour)
    return luminance >= dimmest && luminance <= brightest
  })
  return `#${found!.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

/** From a colour to black or white, in small steps. */
const toward = (rgb: number[], end: number) =>
  Array.from({ length: 99 }, (_, step) =>
    rgb.map((value) => Math.round(value + ((end - value) * (step + 1)) / 100)),
  )

/** Of WCAG 2. */
function luminanceOf(rgb: number[]) {
  const [red, green, blue] = rgb.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

if (import.meta.main)
  for (const [path, text] of Object.entries(drawings())) writeFileSync(join(root, path), text)
