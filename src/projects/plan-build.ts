import type { detect, survey, Survey } from '../detection/detect.ts'
import { isLock, maxLock, maxText, maxTexts } from '../detection/manifests.ts'
import type { manifestsOf } from '../detection/manifests.ts'
import type { Plan } from '../detection/plan.ts'
import type { Directory } from '../git/directory.ts'
import { Failure } from '../platform/errors.ts'
import { parse } from '../platform/parse.ts'
import type { Project } from './store.ts'

type Options = { buildVariables: string[]; signal: AbortSignal }
type App = { repository: Directory; directory: string }

/**
 * Recognises what a directory without a Dockerfile is, and writes its Dockerfile.
 *
 * @throws Failure `not_recognized`, `manifest_invalid`, `manifest_too_large`, `detection_too_hard`.
 */
export async function planBuild(project: Built, app: App, options: Options): Promise<Plan> {
  const { question, work, tooLarge } = await read(project, app, options)
  if (tooLarge) throw tooLarge
  return parse<typeof detect>('detect', [question], work)
}

/** The same without a throw, and with what else the repository holds. */
export async function surveyRepository(
  project: Built,
  app: App,
  options: Options,
): Promise<Survey> {
  const { question, work, tooLarge } = await read(project, app, { ...options, all: true })
  const found = await parse<typeof survey>('survey', [question], work)
  return tooLarge ? { ...found, plan: null, problem: problemOf(tooLarge) } : found
}

export const problemOf = ({ code, message, hint }: Failure) => ({ code, message, hint })

type Built = Pick<Project, 'ownerId' | 'buildSettings'>

async function read(
  { ownerId: owner, buildSettings: settings }: Built,
  { repository, directory }: App,
  { buildVariables, signal, all = false }: Options & { all?: boolean },
) {
  const work = { tooLong, owner, signal }
  const paths = repository.paths.join('\0')
  const asked = { paths, directory, all }
  const { own, others } = await parse<typeof manifestsOf>('manifestsOf', [asked], work)
  const [locks, plain] = [own.filter(isLock), [...own, ...others].filter((path) => !isLock(path))]
  const texts = new Map([
    ...(await repository.readAll(locks, { max: maxLock, total: maxLock })),
    ...(await repository.readAll(plain, { max: maxText, total: maxTexts })),
  ])
  signal.throwIfAborted()
  const large = own.find((path) => !isLock(path) && texts.get(path) === null)
  const known = Array.from(texts).flatMap(([path, text]): [string, string][] =>
    text === null ? [] : [[path, text.slice(0, maxText)]],
  )
  const question = { paths, texts: known, directory, settings, buildVariables }
  return { question, work, tooLarge: large === undefined ? null : tooLargeToRead(large) }
}

const tooLargeToRead = (path: string) =>
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
