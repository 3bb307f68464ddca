"""What of a file is indexed: its text; large and binary files are left out."""
from __future__ import annotations

MOST = 2 << 20                                               # bytes of a file
ENDINGS = """
png jpg jpeg gif webp bmp ico tif tiff heic mp3 mp4 m4a wav ogg flac mov avi mkv webm zip gz tgz bz2 xz zst 7z rar tar
jar pdf doc docx xls xlsx ppt pptx odt ods odp bin exe dll so dylib o a class pyc whl db sqlite sqlite3 parquet npy npz
safetensors onnx woff woff2 ttf otf eml"""
BINARY = frozenset(ENDINGS.split())
"""Names that end so are not read at all. Documents have their text beside them, as `.md`."""
PASSAGE, STEP = 700, 600                                     # characters of what gets one vector, and to the next one
MOST_PASSAGES = 40                                           # of one file


def wanted(name: str, size: int | None) -> bool:
    """Is it worth reading, as far as name and size tell?"""
    _, dot, ending = name.lower().rpartition(".")
    return not (dot and ending in BINARY) and (size is None or 0 < size <= MOST)


def text_of(data: bytes) -> str | None:
    """None for what is no text, or too much of it."""
    if not data or len(data) > MOST or b"\0" in data[:8192]:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def passages(path: str, text: str) -> list[str]:
    """Overlapping parts of a text, the first one with the file's name; cut at white space."""
    name = path.rpartition("/")[2].replace("_", " ")
    found: list[str] = []
    at = 0
    while at < len(text) and len(found) < MOST_PASSAGES:
        end = min(len(text), at + PASSAGE)
        if end < len(text):
            end = max(text.rfind(" ", at + STEP, end), text.rfind("\n", at + STEP, end), at + STEP)
        part = text[at:end].strip()
        if part:
            found.append(f"{name}\n{part}" if not found else part)
        at = end if end == len(text) else max(at + 1, end - (PASSAGE - STEP))
    return found
