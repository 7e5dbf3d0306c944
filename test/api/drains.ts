import { httpReceiver } from '../drains/receivers.ts'

type Call = (route: string, step: { body?: object; path?: string }) => Promise<{ id: string }>

/** Makes every call that changes log drains. */
export async function changeDrains(call: Call, { environment }: { environment: string }) {
  const { url } = httpReceiver()
  const body = { kind: 'loki', name: 'loki', url, username: 'ada', password: 'x' }
  const { id } = await call('POST /envs/:envId/drains', { body })
  await call('PUT /envs/:envId/drains/:id', { body: { requests: false } })
  const path = `/envs/${environment}/drains/${id}/test`
  await call('POST /envs/:envId/drains/:id/test', { path })
  await call('DELETE /envs/:envId/drains/:id', {})
}
