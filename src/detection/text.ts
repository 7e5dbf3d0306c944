import { scriptOf, splitWords } from '../platform/shell-words.ts'
import { lacking } from './plan.ts'
import type { Settings } from './plan.ts'

type Line = string | null | undefined | false

/** Names that are written with spaces between them. */
export const list = (text: string) => text.trim().split(/\s+/)

/** Joins the lines of stages; stages are separated by an empty line. */
export const dockerfile = (...stages: (Line[] | null)[]) =>
  stages
    .filter((stage) => stage !== null)
    .map((stage) => stage.filter((line) => typeof line === 'string').join('\n'))
    .join('\n\n') + '\n'

/** Paths may have spaces and start with a hyphen, so the list form is used where one does. */
export const copy = (paths: string[], to: string, flags = '') => {
  const given = flags === '' ? '' : `${flags} `
  const words = [...paths, to]
  return words.every((word) => /^[\w./@+-]+$/.test(word) && !word.startsWith('-'))
    ? `COPY ${given}${words.join(' ')}`
    : `COPY ${given}${JSON.stringify(words)}`
}

/** A step with cache mounts, which are the owner's alone. */
export const run = (command: string, caches: string[] = []) =>
  ['RUN', ...caches.map((target) => `--mount=type=cache,target=${target}`), command].join(' ')

/** Does these first, in the same step. */
export const after = (commands: string[], step: string) =>
  step.replace(/^RUN (--\S+ )*/, (start) => start + commands.map((each) => `${each} && `).join(''))

/** In one step, as each takes its time to begin. */
export const together = (commands: string[]) => commands.join(' && \\\n    ')

/** Names of the system's packages are checked when settings are saved, and those of rules are constants. */
export const installPackages = (...lists: (string[] | undefined)[]) => {
  const packages = lists.flatMap((each) => each ?? [])
  return packages.length === 0
    ? null
    : `RUN apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')} && rm -rf /var/lib/apt/lists/*`
}

export const buildArguments = (names: string[]) => names.map((name) => `ARG ${name}`)

/** The command of the image. */
export function command(line: string): string {
  return `CMD ${JSON.stringify(words(line))}`
}

/** The end of an image: the port by which the app is reached, and how it is started and stopped. */
export const started = (line: string, port: number) => [
  `EXPOSE ${port}`,
  'STOPSIGNAL SIGTERM',
  command(line),
]

function words(line: string): string[] {
  const script = scriptOf(line)
  if (script !== null) return ['sh', '-c', script]
  return splitWords(line, (problem) =>
    lacking(
      `The start command ${problem}`,
      'Correct it in the repository, or set the start command.',
    ),
  )
}

/** Serves a folder with Caddy on PORT. Unknown paths get 404.html, or index.html where `spa` is set. */
export const staticStage = (
  directory: string,
  { spa, from }: { spa: boolean; from: string | null },
) => [
  'FROM caddy:2.11-alpine',
  'ENV PORT=8080 XDG_CONFIG_HOME=/tmp XDG_DATA_HOME=/tmp',
  `RUN printf '%s\\n' ${caddyfile(spa)
    .map((line) => `'${line}'`)
    .join(' ')} > /etc/caddy/Caddyfile`,
  copy([directory], '/srv', from === null ? '' : `--from=${from}`),
  'USER 65534:65534',
  'EXPOSE 8080',
  'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]',
]

const caddyfile = (spa: boolean) => [
  '{',
  '  admin off',
  '  auto_https off',
  '}',
  ':{$PORT}',
  'root * /srv',
  'encode zstd gzip',
  spa ? 'try_files {path} {path}.html {path}/ /index.html' : 'try_files {path} {path}.html {path}/',
  // The written Dockerfile is among the files, as others that no one should read may be.
  ...['file_server {', '  hide .davit.* .env* .git*', '}'],
  ...(spa ? [] : ['handle_errors 404 {', '  rewrite * /404.html', '  file_server', '}']),
]

/** The end of a reason. */
export const notUsed = (files: string[]) =>
  files.length === 0
    ? ''
    : `; ${files.join(' and ')} ${files.length === 1 ? 'isn’t' : 'aren’t'} used`

/** What no image needs; files of secrets that may lie about are left out too. */
export const ignored = (more: string[]) =>
  [
    ...['.git', '.env', '.env.*', '!.env.example', '**/.DS_Store', 'node_modules'],
    ...['**/node_modules', ...more],
  ].join('\n') + '\n'

/** The settings that are effective: what the user set, else what was found. */
export const effective = (found: Settings, set: Settings, unused: string[]): Settings =>
  Object.fromEntries(
    Object.entries({ ...found, ...set }).filter(
      ([name, value]) => value !== undefined && value !== null && !unused.includes(name),
    ),
  )
