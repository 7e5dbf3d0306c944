import type { Container } from '../docker/index.ts'

/** Where a container is reached: `127.0.0.1:20001 → 8080`. */
export const Ports = ({ ports }: { ports: Container['ports'] }) =>
  ports.length > 0 && (
    <span>
      {ports.map((port, index) => (
        <>
          {index > 0 && ', '}
          <code>{portText(port)}</code>
        </>
      ))}
    </span>
  )

function portText({ address, host, container, protocol }: Container['ports'][number]) {
  const where = address.includes(':') ? `[${address}]` : address
  return `${where}:${host} → ${container}${protocol === 'tcp' ? '' : `/${protocol}`}`
}
