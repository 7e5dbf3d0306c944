import { compareVersions, spokenVersion } from './engine.ts'
import type { Abortable, Engine } from './engine.ts'

/** `auto` is BuildKit where the engine has it. */
export type Builder = 'auto' | 'buildkit' | 'classic'

export type EngineInfo = Awaited<ReturnType<typeof engineInfo>>

type Version = {
  Version: string
  ApiVersion: string
  Os: string
  Arch: string
  Components?: { Name: string }[]
}

type Info = {
  NCPU: number
  MemTotal: number
  Driver: string
  SecurityOptions: string[] | null
  CgroupVersion?: string
  SystemTime: string
  DockerRootDir: string
}

export async function engineInfo(engine: Engine, { signal }: Abortable = {}) {
  const [version, info] = await Promise.all([
    engine.request<Version>('GET', '/version', { signal }),
    engine.request<Info>('GET', '/info', { signal }),
  ])
  const apiVersion = spokenVersion(version.ApiVersion)
  return {
    version: version.Version,
    /** What both sides speak, which may be less than the engine could. */
    apiVersion,
    os: version.Os,
    arch: version.Arch,
    /** Whether `builder: 'auto'` builds with BuildKit. */
    buildkit: hasBuildKit(version, apiVersion),
    cpus: info.NCPU,
    memoryBytes: info.MemTotal,
    /** The storage driver. */
    driver: info.Driver,
    /** Such as `name=seccomp,profile=default` and `name=apparmor`. */
    securityOptions: info.SecurityOptions ?? [],
    /** Version of the control groups, such as `2`. */
    cgroups: info.CgroupVersion ?? '1',
    /** Its clock. */
    time: new Date(info.SystemTime),
    /** On its machine, with all of its data. */
    folder: info.DockerRootDir,
  }
}

/** Whether a build by that setting is BuildKit's. */
export const buildsWithBuildKit = async (
  engine: Engine,
  { builder, signal }: { builder: Builder } & Abortable,
) =>
  builder === 'buildkit' ||
  (builder === 'auto' && (await engineMachine(engine, { signal })).buildkit)

/** How an engine reads a Dockerfile that names no reader of its own. */
export type Frontend = {
  buildKit: boolean
  /** Whether it knows here-documents, as BuildKit does since Docker 23. */
  heredocs: boolean
  /** What it builds for: `linux/amd64`. */
  platform: string
}

export async function engineFrontend(
  engine: Engine,
  { builder, signal }: { builder: Builder } & Abortable,
): Promise<Frontend> {
  const { Os, Arch, Version } = await engine.request<Version>('GET', '/version', { signal })
  const buildKit = await buildsWithBuildKit(engine, { builder, signal })
  const heredocs = buildKit && Number.parseInt(Version) >= 23
  return { buildKit, heredocs, platform: `${Os}/${Arch}` }
}

/**
 * The version tells, because the 20.10 of Debian has BuildKit without announcing it in the ping, and
 * Podman answers the same calls without.
 */
function hasBuildKit({ Os, Components = [] }: Version, apiVersion: string) {
  const recent = compareVersions(apiVersion, '1.39') >= 0
  return recent && Os === 'linux' && Components.some(({ Name }) => Name === 'Engine')
}

/** What an engine is, and what its machine has. */
export type Machine = Pick<EngineInfo, 'buildkit' | 'cpus' | 'memoryBytes' | 'folder'>

const machines = new WeakMap<Engine, Machine>()

/** Asked once: the engine takes its time for the answer, and a machine does not change under it. */
export async function engineMachine(engine: Engine, options: Abortable = {}): Promise<Machine> {
  const machine = machines.get(engine) ?? (await engineInfo(engine, options))
  machines.set(engine, machine)
  return machine
}
