import { Failure } from '../../errors.ts'
import type { BuildContext } from '../../git/git.ts'
import { parse } from '../../parse.ts'
import type { Inspection } from '../dockerfile/inspect.ts'
import type { Run } from '../run.ts'

/** Reads the Dockerfile of a build, of which Davit itself has to know some things. */
export async function inspect(
  { git, project, signal }: Run,
  { context, buildArgs }: { context: BuildContext; buildArgs: Record<string, string> },
): Promise<Inspection> {
  const text = await git.readDockerfile(context, { signal })
  const owner = project.ownerId
  return parse('inspectDockerfile', [text, { buildArgs }], { tooLong, owner, signal })
}

const tooLong = () =>
  new Failure(
    'dockerfile_too_hard',
    'The Dockerfile took too long to read.',
    'Make it shorter: move long commands into scripts of the repository, and write the values of its ARGs out.',
  )
