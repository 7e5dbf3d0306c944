import { expect, test } from 'bun:test'
import { labelsFor, processLabel } from '../../src/docker/labels.ts'
import { removeBackupContainers } from '../../src/runtime/backup-containers.ts'
import { withTestContainer } from '../../src/runtime/test-container.ts'
import { simulatedApp } from '../support/app.ts'
import { aComponent } from './workload.ts'

test('what removes the containers of killed backups, such as a move, leaves a proof that runs', async () => {
  const { deps, docker, engine } = simulatedApp()
  const { signal } = new AbortController()
  const image = 'busybox:latest'
  engine.addImage({ tags: [image], command: ['sleep', '999'] })
  const { instanceId } = deps
  const killed = await docker.createContainer({
    ...{ name: 'davit-proof-killed', image, memoryBytes: 2 ** 24, cpus: 1, network: 'none' },
    labels: { ...labelsFor({ instanceId, kind: 'backup', ownerId: '' }), [processLabel]: 'killed' },
  } as never)
  const component = aComponent('v1', {})
  await withTestContainer(deps, { component, image, ownerId: 'ada', signal }, async (id) => {
    await removeBackupContainers(deps, { signal })
    expect((await docker.inspectContainer(id))?.state).toBe('running')
    expect(await docker.inspectContainer(killed)).toBeNull()
  })
})
