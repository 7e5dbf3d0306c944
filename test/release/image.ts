import { join } from 'node:path'
import { lastLine, run, which } from '../support/machine/command.ts'
import { must } from './executables.ts'
import { repository } from './lockfile.ts'

type Image = {
  version: string
  directory: string
  isRequired: boolean
  say: (line: string) => void
}

/** Builds the image of the Dockerfile, and stores it beside the executables; says why where it can't. */
export async function buildImage({ version, directory, isRequired, say }: Image) {
  const tag = `davit:${version}`
  const why = await build(tag)
  if (why !== null && isRequired) throw new Error(`The image can’t be built: ${why}`)
  if (why !== null) return say(`No image: ${why}`)
  const archive = join(directory, `davit-${version}-image.tar`)
  await must(['docker', 'save', '--output', archive, tag])
  await must(['gzip', '--force', archive])
  say(`Built the image ${tag}.`)
}

/** Null when it is there, else why it isn't. */
export async function build(tag: string, given: Record<string, string> = {}) {
  if (!which('docker')) return 'docker isn’t installed.'
  const options = Object.entries(given).flatMap((pair) => ['--build-arg', pair.join('=')])
  const command = ['docker', 'build', ...options, '--tag', tag, repository]
  const { exitCode, output } = await run(command)
  return exitCode === 0 ? null : lastLine(output)
}
