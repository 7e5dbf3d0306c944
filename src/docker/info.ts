import { compareVersions, spokenVersion } from './engine.ts'
import type { Abortable, Engine, Machine } from './engine.ts'

/** `auto` is BuildKit if the engine has it. */
export type Builder = 'auto' | 'buildkit' | 'classic'

export type EngineInfo = Awaited<ReturnType<typeof engineInfo>>

type Version = {
  Version: string
  ApiVersion: string
  Os: string
  Arch: string
  Components?: { Name: string; Version: string }[]
}

type Info = {
  NCPU: number
  MemTotal: number
  Driver: string
  DriverStatus?: [string, string][] | null
  SecurityOptions: string[] | null
  CgroupVersion?: string
  SystemTime: string
  DockerRootDir: string
  CgroupDriver?: string
  RegistryConfig?: {
    InsecureRegistryCIDRs?: string[] | null
    IndexConfigs?: Record<string, { Secure: boolean }> | null
  } | null
  MemoryLimit?: boolean
  CpuCfsQuota?: boolean
  PidsLimit?: boolean
}

export async function engineInfo(engine: Engine, { signal }: Abortable = {}) {
  const [version, info] = await Promise.all([
    engine.request<Version>('GET', '/version', { signal }),
    engine.request<Info>('GET', '/info', { signal }),
  ])
  const apiVersion = spokenVersion(version.ApiVersion)
  return {
    version: version.Version,
    /** The version that both sides support. */
    apiVersion,
    /** The version of runc; null when another program starts containers, or it isn't reported. */
    runc: version.Components?.find(({ Name }) => Name === 'runc')?.Version ?? null,
    os: version.Os,
    arch: version.Arch,
    /** True when `builder: 'auto'` builds with BuildKit. */
    buildkit: hasBuildKit(version, apiVersion),
    cpus: info.NCPU,
    memoryBytes: info.MemTotal,
    /** The storage driver. */
    driver: info.Driver,
    /** True when containerd stores the images: it gives them other ids than Docker's own store. */
    containerdStore: (info.DriverStatus ?? []).some(
      ([name, value]) => name === 'driver-type' && value.startsWith('io.containerd.snapshotter'),
    ),
    /** Such as `name=seccomp,profile=default` and `name=apparmor`. */
    securityOptions: info.SecurityOptions ?? [],
    /** True when it runs as another user than root, in its own namespaces. */
    rootless: (info.SecurityOptions ?? []).some((option) => option.startsWith('name=rootless')),
    /** Limits of containers that it accepts but doesn’t enforce, because it lacks their control groups. */
    unlimited: Object.entries({
      memory: info.MemoryLimit,
      processors: info.CpuCfsQuota,
      processes: info.PidsLimit,
    }).flatMap(([what, isHeld]) => (isHeld === false ? [what] : [])),
    /** False when it can't measure containers: then it reports the usage of the whole machine. */
    measures: info.CgroupDriver !== 'none',
    /** The version of the control groups, such as `2`. */
    cgroups: info.CgroupVersion ?? '1',
    /** Its clock. */
    time: new Date(info.SystemTime),
    /** Hosts and ranges with which it uses plain HTTP. */
    insecureRegistries: [
      ...(info.RegistryConfig?.InsecureRegistryCIDRs ?? []),
      ...Object.entries(info.RegistryConfig?.IndexConfigs ?? {}).flatMap(([host, { Secure }]) =>
        Secure ? [] : [host],
      ),
    ],
    /** The folder on its machine with all of its data. */
    folder: info.DockerRootDir,
  }
}

export const buildsWithBuildKit = async (
  engine: Engine,
  { builder, signal }: { builder: Builder } & Abortable,
) =>
  builder === 'buildkit' ||
  (builder === 'auto' && (await engineMachine(engine, { signal })).buildkit)

/** Decides how the engine reads a Dockerfile without a syntax line. */
export type Frontend = {
  buildKit: boolean
  /** BuildKit supports here-documents since Docker 23. */
  heredocs: boolean
  /** The platform it builds for, such as `linux/amd64`. */
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
 * Decided by the version: Debian's 20.10 has BuildKit without announcing it in the ping, and Podman has the
 * same calls without BuildKit.
 */
function hasBuildKit({ Os, Components = [] }: Version, apiVersion: string) {
  const recent = compareVersions(apiVersion, '1.39') >= 0
  return recent && Os === 'linux' && Components.some(({ Name }) => Name === 'Engine')
}

/** Requested once: the call is slow, and the machine doesn't change. */
export async function engineMachine(engine: Engine, options: Abortable = {}): Promise<Machine> {
  engine.machine ??= await engineInfo(engine, options)
  return engine.machine
}

/** Why the addresses of containers can’t be reached from here. */
export type Apart = 'remote' | 'rootless'

/** Null when they can be reached. */
export async function whyApart(engine: Engine, options: Abortable = {}): Promise<Apart | null> {
  if (engine.address.kind !== 'socket') return 'remote'
  return (await engineMachine(engine, options)).rootless ? 'rootless' : null
}
