"""The DNS suffixes of the partitions of AWS, for receivers, which do not load botocore.

The source is botocore's `data/partitions.json`; a test compares each Region there.
"""

from collections.abc import Mapping

AWS = "amazonaws.com"
SUFFIXES: Mapping[str, str] = {
    "cn": "amazonaws.com.cn",
    "eusc": "amazonaws.eu",
    "us-iso": "c2s.ic.gov",
    "us-isob": "sc2s.sgov.gov",
    "eu-isoe": "cloud.adc-e.uk",
    "us-isof": "csp.hci.ic.gov",
}
"""The suffix of each partition that has another one than AWS, by the beginning of its Regions, before a dash."""


def dns_suffix(region: str) -> str:
    """Return the DNS suffix of a Region, `amazonaws.com` for an unknown one."""
    for beginning, suffix in SUFFIXES.items():
        if region.startswith(f"{beginning}-"):
            return suffix
    return AWS
