import { expect, test } from 'bun:test'
import { anApp, answerOf, aProject, finished, logOf, triggered } from '../../deployments/apps.ts'
import { testApp, withRoot } from '../../support/app.ts'

test('a deployment in work is not disturbed by clean-ups that go on all the time', async () => {
  const { t, root } = withRoot(testApp())
  const project = await aProject(t, root, anApp('first'))
  await project.deploy()
  await root.put(`/projects/${project.id}/settings`, { keepImages: 0 })
  for (const text of ['second', 'third']) {
    project.repository.commit(anApp(text))
    const deployment = await triggered(root, project.id)
    let over = false
    const end = finished(root, deployment).finally(() => (over = true))
    let cleanUps = 0
    while (!over) {
      const { status } = await root.post('/settings/prune', {
        what: ['containers', 'images', 'networks'],
      })
      expect(status).toBe(200)
      cleanUps++
    }
    const ended = await end
    expect(await logOf(root, deployment)).not.toContain('not on the engine')
    expect(ended.status).toBe('running')
    expect(await answerOf(ended)).toBe(text)
    expect(cleanUps).toBeGreaterThan(0)
  }
  await t.jobs.idle()
  const current = (await root.get(`/projects/${project.id}/deployments`)).json.items[0]
  expect(await t.docker.inspectImage(current.image)).not.toBeNull()
  const own = await t.docker.listContainers({ labels: [`davit.project=${project.id}`], all: true })
  expect(own.map(({ id }) => id)).toEqual([current.containerId])
}, 60_000)
