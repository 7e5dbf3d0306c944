import type { detect } from '../detection/detect.ts'
import { manifestsOf, maxText } from '../detection/manifests.ts'
import type { Plan } from '../detection/plan.ts'
import type { Directory } from '../git/context.ts'
import { Failure } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import type { Project } from './store.ts'

/** Lock files grow without bound, and only their beginning is read. */
const isLock = /(^|\/)(pnpm-lock\.yaml|yarn\.lock|Gemfile\.lock)$/
const maxLock = 16 * 1024 * 1024

/**
 * Recognises what a directory without a Dockerfile is, and writes its Dockerfile.
 *
 * @throws Failure `not_recognized`, `manifest_invalid`, `manifest_too_large`, `detection_too_hard`.
 */
export async function planBuild(
  project: Pick<Project, 'ownerId' | 'buildSettings'>,
  directory: Directory,
  { buildVariables, signal }: { buildVariables: string[]; signal: AbortSignal },
): Promise<Plan> {
  const texts: [string, string][] = []
  for (const path of manifestsOf(directory.paths)) {
    const lock = isLock.test(path)
    const text = await directory.read(path, { max: lock ? maxLock : maxText })
    signal.throwIfAborted()
    if (text !== null) texts.push([path, text.slice(0, maxText)])
    else if (!lock) throw tooLarge(path)
  }
  const { ownerId: owner, buildSettings: settings } = project
  const question = { paths: directory.paths.join('\0'), texts, settings, buildVariables }
  return parse<typeof detect>('detect', [question], { tooLong, owner, signal })
}

const tooLarge = (path: string) =>
  new Failure(
    'manifest_too_large',
    `The file ${path} is larger than ${maxText / 1024} KiB, so it wasn’t read.`,
    'Shorten it, or add a Dockerfile.',
  )

const tooLong = () =>
  new Failure(
    'detection_too_hard',
    'Recognising what this repository is took too long.',
    'Add a Dockerfile, or set the context directory to the app’s folder.',
  )
