import { join, normalize } from 'node:path/posix'
import type { CodeSettings, StackImage } from '../../db/schema.ts'
import type { Snapshot } from '../../git/tools.ts'
import { effectiveVariables } from '../../links/effective.ts'
import { davitFileInvalid } from '../../projects/davit-file.ts'
import { pullImage } from '../../runtime/images/pull-image.ts'
import { getStack, imageOfService, insertStack } from '../../runtime/images/stack-store.ts'
import type { Build, Service } from '../../services/compose/model.ts'
import type { Run } from '../context.ts'
import { imageNameOf } from '../images.ts'
import { buildArguments, buildContext, checkDockersRoom, readCode } from '../steps/build.ts'
import { getCurrent } from '../store.ts'
import { componentNameIn } from './components.ts'
import { planFrom, webOf } from './plan.ts'
import type { StackPlan } from './plan.ts'

type Images = Record<string, StackImage>

/**
 * Builds or pulls the image of each service of the commit’s Compose file. One whose files, arguments and
 * reference are those of the live release keeps its image. Each gets a name of this deployment, so that a
 * rollback has exactly these.
 */
export async function buildStack(run: Run, snapshot: Snapshot) {
  const { db, project, environment, deployment, git, keys, log, signal } = run
  const file = project.composeFile!
  await checkDockersRoom(run)
  const reading = { ...keys, signal, log }
  const root = await git.directory(snapshot, reading)
  const { contextDir } = project
  const inside = contextDir === '.' ? root : await git.directory(snapshot, reading, contextDir)
  const code = await readCode(run, inside)
  const { plan, texts } = await planFrom(root, {
    file,
    values: await valuesOf(run, snapshot),
    service: project.composeService,
    limits: environment,
    owner: project.ownerId,
    signal,
  })
  const main = imageNameOf(run, deployment)
  const live = getCurrent(db, environment.id)?.image
  const known = { ...(live && getStack(db, live)?.services) }
  const isKept = !deployment.noCache
  log(`From ${file}: ${[...plan.services.values()].map(sourceOf).join(', ')}`)
  for (const note of plan.notes) log(note)
  const first = webOf(plan)
  const services: Images = {}
  const pulledFirst = [...plan.services.values()].toSorted(
    (a, b) => Number(a.build !== null) - Number(b.build !== null),
  )
  for (const service of pulledFirst) {
    const { name } = service
    const image = name === first ? main : imageOfService(main, name)
    const same = [...(isKept ? Object.values(known) : []), ...Object.values(services)]
    services[name] = await imageFor(run, { service, snapshot, image, same })
  }
  return {
    image: main,
    codeSettings: settingsOf(plan, { file, code, contextDir }),
    /** Call it in the transaction that stores the image. */
    store: () => insertStack(db, { image: main, file, texts, services }),
  }
}

const sourceOf = ({ name, image, build }: Service) =>
  `${name} (${build ? `built from ${build.context}` : image})`

/** The variables that the file may use. */
async function valuesOf(run: Run, { commit, branch }: Pick<Snapshot, 'commit' | 'branch'>) {
  const { project, environment, own } = run
  const deployment = { commitHash: commit.hash, branch }
  const given = await effectiveVariables(run, { project, environment, deployment, url: null, own })
  return Object.fromEntries(given.variables.map(({ key, value }) => [key, value]))
}

type Wanted = {
  service: Service
  snapshot: Snapshot
  /** Its name in this deployment. */
  image: string
  /** Those that may be the same. */
  same: StackImage[]
}

async function imageFor(run: Run, { service, snapshot, image, same }: Wanted): Promise<StackImage> {
  const { name, build } = service
  const { key, make } = build
    ? await building(run, { build, name, snapshot, image })
    : pulling(run, service, image)
  const isKept = await keep(run, { image, name, same: same.filter((one) => one.key === key) })
  if (!isKept) await make()
  return { image, key, reference: build ? null : service.image }
}

async function keep(
  { docker, log, signal }: Run,
  { image, name, same }: { image: string; name: string; same: StackImage[] },
) {
  for (const other of same) {
    const found = await docker.inspectImage(other.image, { signal })
    if (!found) continue
    if (other.image !== image) await docker.tagImage(found.id, image)
    log(`${name}: nothing that its image is made from has changed, so it is kept`)
    return true
  }
  return false
}

async function building(
  run: Run,
  {
    build,
    name,
    snapshot,
    image,
  }: Pick<Wanted, 'snapshot' | 'image'> & { build: Build; name: string },
) {
  const { git, keys, log, signal, secrets, project } = run
  const context = await git.context(snapshot, {
    ...keys,
    contextDir: build.context,
    dockerfilePath: build.dockerfile,
    needsDigest: true,
    plan: () => Promise.reject(new Error('A path to its Dockerfile is set')),
    signal,
    log,
  })
  const buildArgs = buildArguments(run, build.args)
  const { digest, dockerfile, shows } = context
  const { target } = build
  const made = [digest, dockerfile, shows?.commit.hash, target, project.buildNetwork, buildArgs]
  return {
    key: secrets.sign(`build of ${JSON.stringify(made)}`),
    async make() {
      log(`Building the service ${name}`)
      await buildContext(run, { context, buildArgs, tag: image, target })
    },
  }
}

function pulling(run: Run, { name, image: reference, platform }: Service, image: string) {
  const { project, deployment, docker, log, signal } = run
  return {
    key: `${reference} ${platform ?? ''}`,
    async make() {
      const pulled = await pullImage(run, {
        ownerId: project.ownerId,
        image: reference,
        platform: platform ?? undefined,
        isFresh: true,
        // asks the registry, which isn’t done for a public image that is there
        isApart: platform !== null || deployment.noCache,
        signal,
        onPull: () => log(`Pulling ${reference} for the service ${name}`),
      })
      await docker.tagImage(pulled.image.id, image)
    },
  }
}

/** Commands may have secrets in them, so they stay in the file. */
function settingsOf(
  plan: StackPlan,
  { file, code, contextDir }: { file: string; code: CodeSettings | null; contextDir: string },
): CodeSettings {
  const { processes, build, ...settings } = code?.settings ?? {}
  if (processes || build)
    throw davitFileInvalid([
      `${code!.file}: ${processes ? 'processes' : 'build'} can’t be set beside the Compose file ${file}.`,
    ])
  return {
    file: code ? `${file} and ${code.file}` : file,
    ...(code && { files: [normalize(file), join(contextDir, code.file)] }),
    settings: {
      ...(plan.port !== null && { port: plan.port }),
      ...settings,
      processes: [...plan.services.values()].map(({ name, replicas }) => ({
        name: componentNameIn(plan, name),
        command: null,
        replicas,
        memoryMb: null,
        cpus: null,
      })),
    },
  }
}
