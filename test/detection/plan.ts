import { detect } from '../../src/detection/detect.ts'
import { manifestsOf } from '../../src/detection/manifests.ts'
import type { Settings } from '../../src/detection/plan.ts'

/** The files of a repository with their texts. */
export type Texts = Record<string, string>

export const json = JSON.stringify

/** What a repository is recognised as; the last stage's base, and its command. */
export type Kind = [kind: string, texts: Texts, base: string, command: string[] | null]

/** How files are served. */
export const caddy = {
  base: 'caddy:2.11-alpine',
  command: ['caddy', 'run', '--config', '/etc/caddy/Caddyfile'],
}

/** A package.json with a lock file of npm. */
export const node = (manifest: object, more: Texts = {}): Texts => ({
  'package.json': json(manifest),
  'package-lock.json': '{}',
  ...more,
})

/** What `detect` and `survey` are asked about a repository of these files. */
export const question = (texts: Texts, { directory = '', all = false } = {}) => {
  const paths = Object.keys(texts).join('\0')
  const { own, others } = manifestsOf({ paths, directory, all })
  return {
    paths,
    texts: [...own, ...others].map((path): [string, string] => [path, texts[path]!]),
    directory,
    settings: {},
    buildVariables: [],
  }
}

/** What is planned for a repository of these files. */
export const plan = (
  texts: Texts,
  settings: Settings = {},
  buildVariables: string[] = [],
  directory = '',
) => detect({ ...question(texts, { directory }), settings, buildVariables })
