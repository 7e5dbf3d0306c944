import { buildCaps } from '../../docker/index.ts'
import type { Snapshot } from '../../git/git.ts'
import { steeringRefusal, withoutSteering } from '../../projects/build-arguments.ts'
import { labelsFor } from '../../projects/labels.ts'
import type { Run } from '../run.ts'
import { inspect } from './inspect.ts'
import { pullBases } from './pull-bases.ts'
import { checkRoom } from './room.ts'

/** Builds the commit's Dockerfile into an image of the deployment's own; returns its reference. */
export async function build(run: Run, snapshot: Snapshot): Promise<string> {
  const { project, deployment, docker, git, keys, config, log, signal } = run
  const { contextDir, dockerfilePath } = project
  const machine = await docker.machine({ signal })
  if (!docker.remote) await checkRoom(machine.folder, 'the engine')
  const context = await git.context(snapshot, {
    ...keys,
    contextDir,
    dockerfilePath,
    signal,
    log,
  })
  const image = `davit/${project.id}:${deployment.id}`
  log(`Building ${context.dockerfile} with ${context.files} files`)
  const buildArgs = buildArguments(run)
  const { images } = await inspect(run, { context, buildArgs })
  await pullBases(run, images)
  const output = docker.buildImage({
    context: git.archive(context, { signal }),
    dockerfile: context.dockerfile,
    tag: image,
    labels: labelsFor({
      instanceId: run.instanceId,
      kind: 'build',
      ownerId: project.ownerId,
      projectId: project.id,
      environmentId: deployment.environmentId,
      deploymentId: deployment.id,
    }),
    buildArgs,
    cacheNamespace: run.cacheNamespace,
    network: project.buildNetwork,
    builder: config.builder,
    caps: buildCaps(config, machine),
    signal,
  })
  for await (const part of output) {
    if (part.kind === 'line') log(part.text, part.stream)
    if (part.kind === 'uncapped')
      log(`This build may use all memory and processors of the server, because ${part.why}.`)
  }
  return image
}

/** The project's arguments and the variables marked for it, which stay readable in the image's history. */
function buildArguments({ project, variables, log }: Run) {
  const marked = variables.filter(({ buildTime }) => buildTime)
  const exposed = marked.filter(({ secret }) => secret).map(({ key }) => key)
  if (exposed.length > 0)
    log(`Secret variables given to the build stay readable in the image: ${exposed.join(', ')}`)
  const given = Object.fromEntries(marked.map(({ key, value }) => [key, value]))
  const { args, left } = withoutSteering({ ...project.buildArgs, ...given })
  for (const name of left) log(`Left out the build argument ${name}: it ${steeringRefusal}`)
  return args
}
