import { existsSync, readFileSync, statSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { printJson } from './say.ts'
import { findStack } from '../deployments/stack/find.ts'
import { davitRules } from '../environments/davit-form.ts'
import { composeFilesIn } from '../git/missing-path.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { neverAborted } from '../platform/pause.ts'
import {
  bothSet,
  checkDavitText,
  davitFiles,
  mostTextOf,
  tooLarge,
} from '../projects/davit-file.ts'
import { snakeCase } from '../web/body.ts'
import { print, readArguments } from '../cli/command.ts'
import type { Command } from '../cli/command.ts'
import type { OpenDirectory } from '../git/directory.ts'
import { modes } from '../git/objects.ts'
import type { Entry } from '../git/objects.ts'
import { followPath } from '../git/tree-paths.ts'
import type { Tree } from '../git/tree-paths.ts'
import { git, repositoryRoot } from './working-copy.ts'

type Report = { file: string; mistakes: string[]; found: string[] }

/** In Compose's order: the first that is there. */
const composeNames = ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml']

/** Checks davit.yaml and a Compose file as a deployment does, but for the limits of an environment. */
export const check: Command = async (args) => {
  const { file, service, json } = readArguments(args, {
    usage: 'davit check [FILE] [--service NAME] [--json]',
    optional: 'file',
    options: { service: { type: 'string' }, json: { type: 'boolean' } },
  })
  const reports = file === undefined ? await checkHere(service) : [await checkFile(file, service)]
  if (json) printJson({ files: reports })
  else for (const { mistakes, found } of reports) print(...(mistakes.length > 0 ? mistakes : found))
  return reports.some(({ mistakes }) => mistakes.length > 0) ? 1 : 0
}

async function checkHere(service: string | undefined) {
  const compose = composeNames.find((name) => existsSync(name))
  const there = davitFiles.filter((name) => existsSync(name))
  if (compose === undefined && there.length === 0)
    throw new AppError(
      'not_found',
      `There is no ${[...davitFiles, ...composeNames].join(', ')} here. Name the file.`,
    )
  const reports = await Promise.all(there.map(checkDavit))
  const [first, second] = reports.filter(({ isSet }) => isSet)
  if (first && second) second.mistakes.push(bothSet(first.file, second.file))
  const shown = reports.filter(({ isSet }) => isSet || (!first && !compose))
  return [...shown, ...(compose ? [await checkCompose(compose, service)] : [])].map(
    ({ file, mistakes, found }) => ({ file, mistakes, found }),
  )
}

async function checkFile(file: string, service: string | undefined): Promise<Report> {
  const isDavit = davitFiles.includes(basename(file))
  if (!isDavit && (composeFilesIn([file]).length > 0 || /^services\s*:/m.test(readText(file))))
    return checkCompose(file, service)
  const { mistakes, found } = await checkDavit(file)
  return { file, mistakes, found }
}

async function checkDavit(file: string): Promise<Report & { isSet: boolean }> {
  const given = { file: basename(file), text: readText(file) }
  const checked = await checkDavitText(given, davitRules(), {})
  const report = { file, mistakes: [], found: [`${file}: no settings for Davit.`], isSet: true }
  if (checked === null) return { ...report, isSet: false }
  if ('mistakes' in checked) return { ...report, mistakes: checked.mistakes }
  const keys = Object.keys(checked.settings).map(snakeCase)
  return { ...report, found: [`${file}: sets ${keys.join(', ')}.`] }
}

async function checkCompose(file: string, service: string | undefined): Promise<Report> {
  sizeOf(file) // it may be larger than davit.yaml
  try {
    const { path, directory } = await openLocal(file)
    const project = { composeFile: path, composeService: service ?? null, ownerId: '' }
    const { services, reasons } = await findStack(project, { directory, signal: neverAborted() })
    const web = services.find((one) => one.web)
    const names = services.map(
      ({ name, image, context }) => `${name} (${context ? `built from ${context}` : image})`,
    )
    const found = [
      `${file}: runs ${names.join(', ')}.`,
      ...(web ? [`${web.name} has the addresses.`] : []),
      ...reasons.map((reason) => `${reason.replace(/\.$/, '')}.`),
    ]
    return { file, mistakes: [], found }
  } catch (error) {
    if (error instanceof Failure || error instanceof AppError)
      return { file, mistakes: [error.message], found: [] }
    throw error
  }
}

function readText(file: string) {
  if (sizeOf(file) > mostTextOf(basename(file))) throw new AppError('invalid', tooLarge(file))
  return readFileSync(file, 'utf8')
}

function sizeOf(file: string) {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile()) throw new AppError('not_found', `There is no file ${file}.`)
  return found.size
}

type Local = Pick<OpenDirectory, 'paths' | 'read' | 'follow'>

/** The repository around a file, as a commit of all that git doesn’t ignore would have it. */
async function openLocal(file: string): Promise<{ path: string; directory: Local }> {
  const folder = realpathSync(dirname(file))
  const root = await repositoryRoot(folder)
  const list = (...which: string[]) => git(['ls-files', '-z', ...which], root)
  const listed = await Promise.all([
    list('--cached', '--recurse-submodules'),
    list('--others', '--exclude-standard'),
  ])
  const entries = new Map<string, Entry>()
  for (const path of listed.join('').split('\0')) {
    const found = path === '' ? undefined : lstatSync(join(root, path), { throwIfNoEntry: false })
    const mode = found?.isSymbolicLink() ? modes.link : modes.file
    if (found && !found.isDirectory()) entries.set(path, { mode, path, hash: path, bytes: path })
  }
  const tree: Tree = { entries, read: async ({ path }, { max }) => textOf(join(root, path), max) }
  const follow = (path: string) => followPath(tree, path)
  const read: Local['read'] = async (path, options) => {
    const entry = entries.get(await follow(path))
    return entry ? tree.read(entry, options) : ''
  }
  const path = relative(root, join(folder, basename(file)))
  return { path, directory: { paths: [...entries.keys()], read, follow } }
}

function textOf(path: string, max: number) {
  const found = lstatSync(path)
  if (found.isSymbolicLink()) return readlinkSync(path)
  return found.isFile() && found.size <= max ? readFileSync(path, 'utf8') : null
}
