import { run } from '../support/machine/command.ts'
import { must } from './executables.ts'

/** Subjects of more commits aren't listed: no one reads them. */
const mostCommits = 500

/** What is new since the last tag, from the subjects of the commits, in Markdown. */
export async function releaseNotes(version: string, { cwd }: { cwd?: string } = {}) {
  const last = await tagBefore(cwd)
  const head = `# Davit ${version}\n`
  if (last === null) return `${head}\nThe first release.\n`
  const log = await must(['git', 'log', '--no-merges', '--format=%s', `${last}..HEAD`], cwd)
  const subjects = log.split('\n').filter(Boolean)
  const changed = await must(['git', 'diff', '--name-only', `${last}..HEAD`, '--', 'drizzle'], cwd)
  const more = subjects.length - mostCommits
  return [
    head,
    ...(changed.trim()
      ? [`The database changes: a version before ${version} can’t open it afterwards.\n`]
      : []),
    `Since ${last}:\n`,
    ...subjects.slice(0, mostCommits).map((subject) => `- ${escaped(subject)}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
    '',
  ].join('\n')
}

/** The newest tag of a version that HEAD builds on, not the one of HEAD itself. */
async function tagBefore(cwd: string | undefined) {
  const ask = ['git', 'describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*']
  const { exitCode, output } = await run([...ask, 'HEAD^'], cwd ? { cwd } : {})
  return exitCode === 0 ? output.trim() : null
}

const escaped = (subject: string) => subject.replaceAll(/[\\`*_[\]<>#]/g, '\\$&')
