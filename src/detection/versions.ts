import { lacking } from './plan.ts'
import type { Settings } from './plan.ts'
import { list } from './text.ts'

/**
 * The minor versions of official images that a plan may name, newest first. `use` is the one for a repository
 * that asks for none: the newest with long support. A version stands where the image has a question mark. Sources:
 * the tags of the official images, November 2026.
 */
const images = {
  Node: { image: 'node:?-slim', use: '24.20', known: list('26.13 24.20 22.23 20.20 18.20') },
  Bun: { image: 'oven/bun:?-slim', use: '1.4', known: list('1.4 1.3 1.2') },
  Deno: {
    image: 'denoland/deno:?',
    use: '2.9.6',
    known: list('2.9.6 2.8.3 2.7.14 2.6.8 2.5.6 2.4.5 1.46.3'),
  },
  Python: { image: 'python:?-slim', use: '3.14', known: list('3.15 3.14 3.13 3.12 3.11 3.10') },
  Go: { image: 'golang:?', use: '1.27', known: list('1.27 1.26 1.25 1.24 1.23 1.22 1.21') },
  Rust: {
    image: 'rust:?-slim',
    use: '1.96',
    known: list('1.96 1.95 1.94 1.93 1.92 1.91 1.90 1.85 1.80'),
  },
  Ruby: { image: 'ruby:?-slim', use: '3.4', known: list('4.0 3.4 3.3 3.2') },
  PHP: { image: 'php:?-apache', use: '8.5', known: list('8.5 8.4 8.3 8.2') },
  Java: { image: 'eclipse-temurin:?', use: '21', known: list('25 21 17 11 8') },
  '.NET': { image: 'mcr.microsoft.com/dotnet/sdk:?', use: '10.0', known: list('10.0 9.0 8.0') },
  Elixir: { image: 'elixir:?-slim', use: '1.20', known: list('1.20 1.19 1.18 1.17 1.16') },
}

export type Language = keyof typeof images

/** What a file of the repository asks for; `from` names it. */
export type VersionRequest = { range: string | null | undefined; from: string }

export type Version = { version: string; image: string; reason: string }

/**
 * Chooses the version by the first file that asks for one: an exact minor version as it is (of Ruby an exact
 * patch), else the newest known one that the range allows.
 *
 * @throws Failure when no known version fits.
 */
export function chooseVersion(
  language: Language,
  settings: Pick<Settings, 'version'>,
  requests: VersionRequest[],
): Version {
  const { image, use, known } = images[language]
  const named = (version: string, from: string): Version => ({
    version,
    image: image.replace('?', version),
    reason: `${language} ${version}${from}`,
  })
  const all = [{ range: settings.version, from: 'the settings' }, ...requests]
  const wish = all.find(({ range }) => range)
  if (!wish) return named(use, '')
  const range = wish
    .range!.trim()
    .replace(/^[a-z]+(\d*-)?(?=\d)/i, '')
    .replace(/^lts\/(\w+)$/i, (_, name: string) => codenames[name.toLowerCase()] ?? 'lts')
  const from = ` from ${wish.from}`
  if (/^(lts|lts\/\*|latest|current|stable|node|system)$/i.test(range)) return named(use, from)
  const parts = /^(\d{1,4})(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?$/.exec(range)
  const depth = use.split('.').length
  if (parts?.[2] !== undefined && depth === 2) {
    // Bundler refuses another patch than the one that a Gemfile names.
    const kept = parts.slice(1, language === 'Ruby' ? 4 : 3).filter((part) => part !== undefined)
    const exact = kept.map(Number).join('.')
    if (known.some((version) => version.startsWith(`${parts[1]}.`))) return named(exact, from)
  } else if (parts) {
    // The images of Deno have tags of whole versions alone.
    const isWhole = parts[3] !== undefined && depth === 3
    if (isWhole && known.some((version) => version.startsWith(`${parts[1]}.`)))
      return named(range, from)
    const part = depth === 1 ? parts[1]! : range
    const newest = known.find((version) => `${version}.`.startsWith(`${part}.`))
    if (newest) return named(newest, from)
  } else if (/\d|^[*x]$/.test(range)) {
    const fits = (version: string) => Bun.semver.satisfies(full(version), range)
    const found = fits(use) ? use : known.find(fits)
    if (found) return named(found, from)
  }
  throw lacking(
    `${wish.from} asks for ${language} ${range.slice(0, 60)}, which isn’t known here.`,
    `Ask for one of ${known.join(', ')}, or add a Dockerfile.`,
  )
}

/** Of Node's versions with long support, as nvm names them. */
const codenames: Record<string, string> = {
  hydrogen: '18',
  iron: '20',
  jod: '22',
  krypton: '24',
}

/** As ranges are about whole versions: the newest patch of a minor. */
const full = (version: string) => [...version.split('.'), '999', '999'].slice(0, 3).join('.')
