import type { ContainerOptions } from '../docker/index.ts'
import { labelsFor, processLabel, thisProcess } from '../docker/labels.ts'
import type { BackupDeps } from './backup-containers.ts'
import type { Component } from './component.ts'
import { endOfName } from './steps/create.ts'

type TestContainer = {
  component: Component
  image: string
  ownerId: string
  signal: AbortSignal
}

/**
 * Starts a component with empty volumes, but with no network, no port and no right on the host, and passes on its
 * container. That and its volumes are removed in any case; what a kill leaves, by `removeBackupContainers`.
 */
export async function withTestContainer<Result>(
  deps: BackupDeps,
  test: TestContainer,
  work: (containerId: string) => Promise<Result>,
): Promise<Result> {
  const { docker } = deps
  const { signal, component } = test
  const id = await docker.createContainer(optionsOf(deps, test)) // one that is given up may still be created
  try {
    signal.throwIfAborted()
    const { files } = component
    if (files.length > 0) await docker.putArchive(id, { path: '/', files, signal })
    await docker.startContainer(id, { signal })
    return await work(id)
  } finally {
    await docker.removeContainer(id, { force: true, volumes: true })
  }
}

function optionsOf(
  { instanceId }: BackupDeps,
  { component, image, ownerId }: TestContainer,
): ContainerOptions {
  const { volumes = [], ...options } = component.options
  const { ports, granted, labels, extraHosts, hostname, stopSignal, stopTimeout, ...kept } = options
  return {
    ...kept,
    ...{ image, network: 'none', networkAliases: [] },
    name: `davit-proof-${Bun.randomUUIDv7().slice(-12)}${endOfName(instanceId)}`,
    labels: {
      ...labelsFor({ instanceId, kind: 'backup', ownerId }),
      [processLabel]: thisProcess,
    },
    scratch: volumes.map(({ path }) => path),
    healthCheck: { disabled: true },
    restart: { name: 'no' },
  }
}
