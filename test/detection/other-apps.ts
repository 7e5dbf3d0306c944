import type { RealApp } from './real-app.ts'

/** What is built with the languages that Debian has. */
export const otherApps: RealApp[] = [
  {
    name: 'python-plain',
    kind: 'Python',
    images: ['python:3.14-slim'],
    page: 'main.py',
    without: [],
  },
  {
    name: 'go-plain',
    kind: 'Go',
    images: ['golang:1.27', 'alpine:3.24'],
    page: 'main.go',
    without: ['/app/main.go', '/usr/local/go'],
  },
]
