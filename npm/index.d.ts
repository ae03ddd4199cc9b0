export type Contents = string | Uint8Array | ArrayBuffer;

export interface RunOptions {
  /** Input files by path, such as { "rank0.json.gz": bytes }. */
  files?: Record<string, Contents>;
  /** Standard input, which the command reads as "-". */
  stdin?: Contents;
  /** Environment variables. */
  env?: Record<string, string>;
  /** The compiled tracekit.wasm, if the package cannot load it by itself. */
  module?: WebAssembly.Module;
}

export interface RunResult {
  /** Exit status: 0 = done, 1 = done with a finding, 2 = invalid use, 3 = bad input, 4 = failed output. */
  status: number;
  stdout: string;
  stderr: string;
  /** Standard output as bytes, for an output "-" that is not text. */
  stdoutBytes: Uint8Array;
  /** Files that the command created or changed, by path. */
  files: Record<string, Uint8Array>;
}

/**
 * Runs the command on files in memory.
 *
 * Rejects if the program cannot be loaded or is stopped by a fault. Blocks its thread meanwhile: pages should call it in a
 * worker.
 */
export function run(args: string[], options?: RunOptions): Promise<RunResult>;
