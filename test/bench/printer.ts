import { connectDocker } from '../../src/docker/index.ts'

const text = 'INFO request served path=/api/items status=200 dur=12ms'

/** A container that prints numbered lines: so many a second, in ten bursts, or without pause. */
export async function printer({
  perSecond,
  labels = {},
}: {
  perSecond: number
  labels?: Record<string, string>
}) {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const burst = Math.max(1, Math.round(perSecond / 10))
  const id = await docker.createContainer({
    name: `bench-${Bun.randomUUIDv7().slice(-12)}`,
    labels,
    image: 'busybox:latest',
    command: [
      'sh',
      '-c',
      `i=0; while :; do n=0; while [ $n -lt ${burst} ]; do i=$((i+1)); n=$((n+1)); echo "$i ${text}"; done; usleep 99000; done`,
    ],
    network: 'none',
    logs: { maxSize: '10m', maxFiles: 3 },
    memoryBytes: 32 * 2 ** 20,
    cpus: 1,
    pidsLimit: 16,
  })
  await docker.startContainer(id)
  return { id, remove: () => docker.removeContainer(id, { force: true }) }
}
