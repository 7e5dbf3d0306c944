import type { Random } from './random.ts'

/** A Compose file of one or two services, which may end or be slow. */
export const compose = (chance: Random) => {
  const web = chance.weighed([
    { weight: 6, command: '[sleep, "1000000"]' },
    { weight: 1, command: '[sh, -c, "exit 1"]' },
    { weight: 1, command: '[sh, -c, "sleep 0.5; exit 1"]' },
  ])
  const check = chance.chance(0.5) ? '{test: [CMD, "true"], interval: 100ms}' : '{disable: true}'
  const db = chance.chance(0.5)
  return [
    'services:',
    '  web:',
    '    image: busybox',
    `    command: ${web.command}`,
    `    healthcheck: ${check}`,
    `    environment: {GREETING: "${chance.below(1000)}"}`,
    '    ports: ["80"]',
    ...(db ? ['    depends_on: {db: {condition: service_healthy}}'] : []),
    ...(db
      ? [
          '  db:',
          '    image: busybox',
          '    command: [sleep, "1000000"]',
          '    healthcheck: {test: [CMD, "true"], interval: 100ms}',
          '    volumes: ["data:/data"]',
          'volumes: {data: {}}',
        ]
      : []),
  ].join('\n')
}
