import { Failure } from '../../platform/errors.ts'
import type { BuildContext } from '../../git/tools.ts'
import { parse } from '../../platform/parse.ts'
import type { inspectDockerfile, inspectStages, rewriteDockerfile } from '../dockerfile/inspect.ts'
import type { refuseTriggers } from '../dockerfile/sources.ts'
import type { Base } from '../dockerfile/stages.ts'
import { keyOf } from '../base-images.ts'
import type { Run } from '../context.ts'
import type { Bases } from './bases.ts'
import { isPrivate } from './bases.ts'
import type { RemoteFiles } from './remote-files.ts'

type PrepareOptions = {
  context: BuildContext
  buildArgs: Record<string, string>
  bases: Bases
  remoteFiles: RemoteFiles
}

/** The Dockerfile to build with: the commit's own, or a rewritten one that is added. */
export type Prepared = {
  dockerfile: string
  buildArgs: Record<string, string>
  /** The text of a Dockerfile that the commit lacks; null for the commit's own. */
  text: string | null
  /** The ports that the Dockerfile itself exposes, in its order. */
  ports: number[]
}

/** Reads the Dockerfile, and fetches images and files that the engine would otherwise fetch itself. */
export async function prepare(run: Run, given: PrepareOptions): Promise<Prepared> {
  const { git, signal } = run
  const { context, buildArgs, bases, remoteFiles } = given
  const [text, { frontend }] = await Promise.all([
    git.readDockerfile(context, { signal }),
    run.buildEngine(),
  ])
  const reader = { ...frontend, buildArgs }
  const images = await read<typeof inspectDockerfile>(run, 'inspectDockerfile', [text, reader])
  const known: Record<string, Base> = {}
  const own: Record<string, string> = {}
  const argumentOf: Record<string, string> = {}
  for (const wanted of images) {
    const pulled = await bases.pull(run, wanted)
    const { onBuild, env } = pulled.image
    known[keyOf(wanted)] = { onBuild, env }
    if (onBuild.length > 0)
      await read<typeof refuseTriggers>(run, 'refuseTriggers', [onBuild, wanted.image])
    if (!isPrivate(pulled)) continue
    const argument = `DAVIT_IMAGE_${Object.keys(own).length}`
    own[argument] = pulled.name
    argumentOf[keyOf(wanted)] = argument
  }
  const informed = { ...reader, bases: known }
  const { remotes, isExpanded, ports } = await read<typeof inspectStages>(run, 'inspectStages', [
    text,
    informed,
  ])
  const files = await remoteFiles.fetch(run, remotes)
  if (Object.keys({ ...own, ...files }).length === 0 && !isExpanded)
    return { dockerfile: context.dockerfile, buildArgs, text: context.planned, ports }
  const replacements = { images: argumentOf, files }
  const written = await read<typeof rewriteDockerfile>(run, 'rewriteDockerfile', [
    text,
    informed,
    replacements,
  ])
  const withOwn = { ...buildArgs, ...own }
  return { dockerfile: context.spareName, buildArgs: withOwn, text: written, ports }
}

function read<Task extends (...args: never[]) => unknown>(
  { project, signal }: Run,
  task: string,
  args: Parameters<Task>,
) {
  return parse<Task>(task, args, { tooLong, owner: project.ownerId, signal })
}

const tooLong = () =>
  new Failure(
    'dockerfile_too_hard',
    'Reading the Dockerfile took too long.',
    'Shorten it: move long commands into scripts in the repository, and simplify its ARGs.',
  )
