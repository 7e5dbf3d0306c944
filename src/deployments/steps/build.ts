import { Readable } from 'node:stream'
import { buildCaps, tarHead, tarPadding } from '../../docker/index.ts'
import type { CodeSettings } from '../../db/schema.ts'
import { davitRules } from '../../environments/davit-form.ts'
import { readProcfile } from '../../environments/procfile.ts'
import { updateEnvironment } from '../../environments/store.ts'
import type { BuildContext, Snapshot } from '../../git/tools.ts'
import type { Directory } from '../../git/directory.ts'
import { readDavitFile } from '../../projects/davit-file.ts'
import { planBuild } from '../../projects/plan-build.ts'
import { steeringRefusal, steersBuilder } from '../../projects/build-form.ts'
import { labelsFor, portsLabel } from '../../docker/labels.ts'
import { copyImage } from '../../runtime/images/copy-image.ts'
import { buildApart } from '../../runtime/images/pull-image.ts'
import { explainWritten } from '../explain.ts'
import { imageNameOf } from '../images.ts'
import type { Run } from '../context.ts'
import { Bases } from './bases.ts'
import { prepare } from './prepare.ts'
import type { Prepared } from './prepare.ts'
import { RemoteFiles } from './remote-files.ts'
import { checkRoom } from '../../runtime/check-room.ts'
import { snakeCase } from '../../web/body.ts'
import { counted } from '../../web/units.ts'

/** Updates the mirror, and finds the commit to deploy. */
export async function clone(run: Run): Promise<Snapshot> {
  const { project, deployment, git, keys, config, log, signal } = run
  await checkRoom(config.dataDir, { whose: 'Davit', what: 'a build' })
  const { repositoryUrl: url, branch, refType, requestedCommit, upload } = deployment
  if (upload) {
    const from = upload.commit ? `, from commit ${upload.commit.slice(0, 12)}` : ''
    const state = upload.commit && upload.dirty ? ', dirty' : ''
    log(`Uploaded by ${deployment.triggeredBy}: ${counted(upload.files, 'file')}${from}${state}`)
    if (project.gitDirectory) log('The build gets no .git, because its files were uploaded.')
    return run.uploads.open(deployment)
  }
  const what = requestedCommit ? requestedCommit.slice(0, 12) : (branch ?? 'the default branch')
  log(`Cloning ${url} (${what})`)
  const history = project.gitDirectory
  const asked = { url, branch, refType, commit: requestedCommit, history, signal, log }
  const snapshot = await git.fetch({ ...keys, ...asked })
  const { hash, author, message } = snapshot.commit
  log(`At commit ${hash.slice(0, 12)} by ${author}: ${message}`)
  return snapshot
}

/** Returns the reference of the built image, and what the commit itself sets. */
export async function build(
  run: Run,
  snapshot: Snapshot,
): Promise<{ image: string; codeSettings: CodeSettings | null }> {
  const { project, deployment, git, keys, log, signal } = run
  const { contextDir, dockerfilePath } = project
  await checkDockersRoom(run)
  const buildArgs = buildArguments(run)
  let codeSettings: CodeSettings | null = null
  const context = await git.context(snapshot, {
    ...keys,
    contextDir,
    dockerfilePath,
    inspect: async (directory) => {
      codeSettings = await readCode(run, directory)
    },
    plan: (app) => {
      const { build: buildSettings = project.buildSettings } = codeSettings?.settings ?? {}
      const built = { ...run, project: { ...project, buildSettings } }
      return plan(built, app, Object.keys(buildArgs))
    },
    signal,
    log,
  })
  keepProcfile(run, context)
  const tag = imageNameOf(run, deployment)
  await buildContext(run, { context, buildArgs, tag, target: null }).catch((error) => {
    throw context.planned === null ? error : explainWritten(error)
  })
  return { image: tag, codeSettings }
}

export async function checkDockersRoom({ docker, signal }: Run) {
  if (docker.remote) return
  const { folder } = await docker.machine({ signal })
  await checkRoom(folder, { whose: 'Docker', what: 'a build' })
}

/** Builds the image of a context under a name. */
export async function buildContext(
  run: Run,
  {
    context,
    buildArgs,
    tag,
    target,
  }: {
    context: BuildContext
    buildArgs: Record<string, string>
    tag: string
    /** The stage to build; null for the last one. */
    target: string | null
  },
) {
  const { project, deployment, git, config, log, signal } = run
  const { ownerId } = project
  const { docker, server } = await run.buildEngine()
  const there = { ...run, docker }
  const where = server ? ` on ${server}` : ''
  const without = deployment.noCache ? ', without the build cache' : ''
  log(`Building ${context.dockerfile} with ${counted(context.files, 'file')}${where}${without}`)
  const machine = await docker.machine({ signal })
  await using bases = new Bases(there)
  await using remoteFiles = new RemoteFiles(run)
  const given = { context, buildArgs, bases, remoteFiles }
  const prepared = await prepare(there, given)
  await run.takeSlot()
  await buildApart(there, { ownerId, signal }, async () => {
    const output = docker.buildImage({
      context: await withOwnFiles(() => git.archive(context, { signal }), {
        prepared,
        remoteFiles,
      }),
      dockerfile: prepared.dockerfile,
      tag,
      ...(target !== null && { target }),
      labels: {
        ...labelsFor({
          instanceId: run.instanceId,
          kind: 'build',
          ownerId,
          projectId: project.id,
          environmentId: deployment.environmentId,
          deploymentId: deployment.id,
        }),
        [portsLabel]: target === null ? prepared.ports.join(',') : '', // of the last stage
      },
      buildArgs: prepared.buildArgs,
      // It can't be guessed, so the cache mounts of an owner's builds are private. Those of a fork are its own.
      cacheNamespace: run.secrets.sign(
        `build cache of ${deployment.refType === 'pull' ? deployment.environmentId : ownerId}`,
      ),
      noCache: deployment.noCache,
      network: project.buildNetwork,
      builder: config.builder,
      caps: buildCaps(config, machine),
      signal,
    })
    for await (const part of output) {
      if (part.kind === 'line') log(part.text, part.stream)
      if (part.kind === 'uncapped')
        log(`This build isn’t limited in memory and processors, because ${part.why}.`)
    }
  })
  if (!server) return
  log(`Copying the image from ${server}`)
  await copyImage(run, { image: tag, projectId: project.id, from: docker, to: run.docker })
}

export async function readCode(
  { project, environment, edge, log, signal }: Run,
  directory: Directory,
) {
  const rules = davitRules({ environment, edge })
  const code = await readDavitFile(directory, rules, { owner: project.ownerId, signal })
  if (code) log(`From ${code.file}: ${Object.keys(code.settings).map(snakeCase).join(', ')}`)
  return code
}

/** For a repository without a Dockerfile. */
async function plan(
  { project, log, signal }: Run,
  app: Parameters<typeof planBuild>[1],
  buildVariables: string[],
) {
  const found = await planBuild(project, app, { buildVariables, signal })
  log(`No Dockerfile, so Davit writes one for ${found.kind}: ${found.reasons.join('; ')}.`)
  return found
}

/** Its entries are suggested to the user, who decides. */
function keepProcfile({ db, environment, log }: Run, { procfile: text }: BuildContext) {
  const procfile = text === null ? null : readProcfile(text)
  updateEnvironment(db, environment.id, { procfile: procfile && procfile.entries })
  if (procfile?.note) log(procfile.note)
}

/** Adds Davit's own files to the context. */
async function withOwnFiles(
  archive: () => Promise<ReadableStream<Uint8Array>>,
  { prepared, remoteFiles }: { prepared: Prepared; remoteFiles: RemoteFiles },
): Promise<ReadableStream<Uint8Array>> {
  if (prepared.text === null) return archive()
  const { dockerfile: path, text } = prepared
  return Readable.toWeb(Readable.from(together())) as ReadableStream<Uint8Array>

  async function* together() {
    const bytes = Buffer.from(text!)
    yield tarHead({ path, mode: 0o644, size: bytes.length })
    yield bytes
    yield tarPadding(bytes.length)
    yield* remoteFiles.entries()
    yield* await archive()
  }
}

/** The project's arguments and the variables marked for builds. Both stay readable in the image's history. */
export function buildArguments(
  { project, variables, log }: Run,
  more: Record<string, string> = {},
) {
  const marked = variables.filter(({ buildTime }) => buildTime)
  const isIn = (value: string) =>
    value !== '' && Object.values(more).some((one) => one.includes(value))
  const exposed = variables
    .filter(({ secret, buildTime, value }) => secret && (buildTime || isIn(value)))
    .map(({ key }) => key)
  if (exposed.length > 0)
    log(`Secret variables used in the build are readable in the image: ${exposed.join(', ')}`)
  const given = Object.fromEntries(marked.map(({ key, value }) => [key, value]))
  const args = Object.entries({ ...project.buildArgs, ...given, ...more })
  // Forms refuse these names; no build may get one that was stored in another way.
  for (const [name] of args)
    if (steersBuilder(name)) log(`Skipped a build argument. ${steeringRefusal(name)}`)
  return Object.fromEntries(args.filter(([name]) => !steersBuilder(name)))
}
